// The game in the browser. The server knows the rules and draws the board; this page shows the game and
// sends moves.

import { draw, light, narrow, redraw } from "./board.js";
import { accountPicture, adviceTable, graded, verdictOf } from "./coach.js";
import { by, copy, element } from "./element.js";
import { offer, offerAgain } from "./picker.js";
import { reviewPicture } from "./review.js";
import { ask } from "./server.js";
import { closeSheets, openSetup, showRules } from "./sheets.js";
import { fillSetup, showWish, wishOfFile, wishOfLink } from "./setup.js";
import { goOn, isWorking, once, pause, tell, work } from "./work.js";

const PAUSE = 900; // milliseconds for which another player's move is shown
const GONE = 410; // the status of an answer about a game that the server does not keep
const SQUARES = { best: "🟩", good: "🟦", inaccuracy: "🟨", mistake: "🟧", blunder: "🟥" };
const LONGEST = 4000; // milliseconds for all of them; many moves are shown faster
const still = matchMedia("(prefers-reduced-motion: reduce)");

let id = ""; // the random name of the game, which only this page and the server know
let state = null;
let verdicts = []; // the coach's verdict on each move so far
let logged = 0; // number of moves in the log, fewer than all while those of the others are shown
let hints = null; // the advice on the coming move and the number of hints shown, once one is asked
let past = null; // the number of moves before the position looked at, and its answer, in a review
let shared = []; // the result as lines of text
let playing = false; // whether an agent that is watched moves by itself

// ------------------------------------------------------------------ the server

// Ask the server about the game. If the server no longer keeps it, begin it again as this tab knows it.
async function inGame(path, body) {
  try {
    return await ask(`/api/games/${id}${path}`, body);
  } catch (error) {
    const known = sessionStorage.getItem(id);
    if (error.status !== GONE || !known) throw error;
    sessionStorage.removeItem(id);
    ({ id } = await ask("/api/games", JSON.parse(known)));
    sessionStorage.setItem(id, known);
    history.replaceState(null, "", `#${id}`);
    return ask(`/api/games/${id}${path}`, body);
  }
}

// Let the tab know the game, so that it outlives the server.
function keep() {
  sessionStorage.setItem(id, JSON.stringify({ ...alike(state.seed, state.made), counts: state.counts }));
}

// -------------------------------------------------------------------- the game

async function begin(wish) {
  const answer = await ask("/api/games", wish);
  if (answer.coach && sessionStorage.getItem("coach") === null) coach(true);
  openSetup(false);
  by("sizes").open = false;
  if (id && !location.hash.includes("=")) history.pushState(null, "", `#${answer.id}`);
  else history.replaceState(null, "", `#${answer.id}`);
  ({ id } = answer);
  verdicts = [];
  clearAdvice();
  await show(answer, !answer.made);
  await recallIf(answer.made);
}

const first = () => ({ seed: Number(by("board").dataset.seed) }); // the game of the command line

// Show the game that the address names: an open one by its random name, or any by its options, seed
// and moves. "Back" in the browser comes here too.
async function arrive() {
  const name = (location.hash || location.search).slice(1);
  try {
    if (name.includes("=") || !name) return await begin(name ? wishOfLink(name) : first());
    id = name;
    const answer = await inGame("");
    verdicts = [];
    clearAdvice();
    await show(answer, false);
    showWish(alike(state.seed));
    await recallIf(true);
  } catch (error) {
    if (!error.status) throw error;
    history.replaceState(null, "", "#");
    id = "";
    await begin(first());
    tell(error.status === GONE ? error.message.replace("Begin a new one.", "This is a new one.")
      : `That game cannot go on here: ${error.message}. This is a new one.`);
  }
}

// ------------------------------------------------------------------ a look back

// Show the position before a move and what the move gave away, or a move of another player.
async function look(made, film = -1) {
  clearAdvice();
  closeSheets();
  past = { made, answer: await inGame(`/past/${made}`) };
  const { answer } = past;
  const scene = answer.film.at(film);
  const own = film === -1 && made < state.made;
  by("moves").hidden = by("end").hidden = by("watched").hidden = true;
  by("past").hidden = false;
  by("when").textContent = own ? `Before move ${made + 1} of ${state.made}` : `After move ${made} of ${state.made}`;
  by("earlier").disabled = !made;
  by("later").disabled = made >= state.made;
  by("retry").disabled = !own;
  draw(scene);
  by("now").focus({ preventScroll: true });
  scrollTo(0, 0);
  if (!own) return;
  const { advice } = answer;
  if (advice.verdict) {
    say([`Move ${made + 1}, ${wordsOf(advice)}`, advice.verdict], "", advice.grade);
    showAdvice(advice);
  } else say([`Move ${made + 1}, ${wordsOf(advice)}: the only move.`]);
  light(advice.moves.find((move) => move.action === advice.made).parts);
}

const wordsOf = (advice) => advice.moves.find((move) => move.action === advice.made).words;

// Return from the look back to where the game is.
async function present() {
  clearAdvice();
  await show(state, false);
}

// Return the request for a game of the same options: new, or with the first moves of this one.
function alike(seed, made) {
  const { moves = [], ...wish } = wishOfLink(state.link);
  if (made !== undefined) wish.moves = moves.slice(0, made);
  if (state.watch) wish.watch = state.watch;
  return { ...wish, seed };
}

const retry = (made) => begin(alike(state.seed, made));

function coach(on) { // the setting survives a reload
  by("coach").checked = on;
  idle();
  sessionStorage.setItem("coach", on ? "on" : "");
}

// The switch of a person's coach: the first person's is always there.
const switchOf = (seat) => by(state && seat !== state.persons[0] ? `coach-${seat}` : "coach");

// Whether a person has a coach, or any person.
const coached = (seat) => (seat === undefined ? state?.persons ?? [0] : [seat]).some((one) => switchOf(one)?.checked);

// Show a switch for the coach of each person at the screen.
function showSwitches() {
  const [first, ...others] = state.persons;
  const nameOf = (seat) => (others.length ? `Coach ${seat + 1}` : "Coach");
  by("coach").nextSibling.textContent = ` ${nameOf(first)}`;
  if (others.map((seat) => `coach-${seat}`).join() === [...by("coaches").querySelectorAll("input")].map((one) => one.id).join()) return;
  by("coaches").replaceChildren(...others.map((seat) => {
    const box = element("input", { type: "checkbox", id: `coach-${seat}` });
    box.checked = by("coach").checked;
    box.addEventListener("change", () => recallNow(box.checked));
    return element("label", { class: "switch" }, box, ` ${nameOf(seat)}`);
  }));
}

// Say what the moves so far have given away, if there is a coach to say it; and of the last one in full.
async function recallIf(on) {
  if (!on || !state.made || !coached()) return;
  if (state.persons.length > 1 || state.watched) await recall();
  else await judge();
}

const recallNow = (on) => {
  idle();
  if (on && state?.made) work(() => recallIf(on));
  else if (state) showLog(logged);
};

async function move(action) {
  light([]);
  const { seat } = state;
  const answer = await inGame("/moves", { action, made: state.made });
  clearAdvice();
  await show(answer, true, coached(seat));
}

// Have the agent that is watched make its move, and judge it.
async function step() {
  const answer = await inGame("/moves", { made: state.made });
  clearAdvice();
  await show(answer, true, true);
}

// Have the agent move at the chosen pace until the end, or until it is stopped.
async function goAlong() {
  playing = true;
  by("run").textContent = "Pause";
  while (playing && !state.ended) {
    await step();
    if (playing && !state.ended) await pause(Number(by("pace").value));
  }
  playing = false;
  by("run").textContent = "Play";
}

// Show the agent's law of moves beside what they are worth.
async function showLaw() {
  by("watched").hidden = false;
  by("agent").textContent = `${state.watched} moves.`;
  by("unstep").disabled = !state.made;
  showAdvice(await inGame("/advice/0"));
  if (!playing) by("step").focus({ preventScroll: true });
}

async function undo() {
  const answer = await inGame("/undo", {});
  verdicts.length = answer.made;
  clearAdvice();
  await show(answer, false);
}

async function judge() {
  const advice = await inGame("/advice/1");
  verdicts[state.made - 1] = { words: advice.verdict, grade: advice.grade };
  if (advice.verdict) { // the coach has nothing to say on a move without an alternative
    say([advice.verdict], advice.grade);
    showAdvice(advice);
  }
  if (verdicts.includes(undefined)) await recall(); // moves made while the coach was off
  else showLog(logged);
}

const say = verdictOf(by("verdict"));

// Fetch the verdicts on all moves, for moves made while the coach was off or before a reload.
async function recall() {
  ({ verdicts } = await inGame("/verdicts"));
  showLog(logged);
}

// Show one hint more: what to look at, then some moves of which one is best, then the best move.
async function hint() {
  if (!hints) {
    clearAdvice();
    hints = { advice: await inGame("/advice/0"), shown: 0 };
  }
  const { advice } = hints;
  hints.shown += 1;
  if (hints.shown > advice.hints.length) return clearAdvice();
  say(advice.hints.slice(0, hints.shown));
  by("ask").setAttribute("aria-expanded", true);
  const left = advice.hints.length - hints.shown;
  by("ask").textContent = left > 1 ? "Next hint" : left ? "Best move" : "Hide";
  if (!left) showAdvice(advice);
}

// ------------------------------------------------------------------ the display

async function show(answer, watched, judged = false) {
  state = answer;
  keep();
  showSwitches();
  showRules(state);
  by("seed").replaceChildren(`Seed ${state.seed}. The same game again: `,
    element("code", {}, state.command));
  by("rivals").hidden = !state.against.length;
  by("who").replaceChildren(...state.against.flatMap((one) =>
    [element("b", {}, `${one.title}. `), `${one.about} `]));
  by("strength").hidden = state.persons.length > 1;
  document.title = `${state.title} – exactdice`;
  by("moves").hidden = by("end").hidden = by("past").hidden = by("watched").hidden = true;
  past = null;
  by("link").href = `#${state.link}`;
  by("link").textContent = "Copy a link to this position";
  by("file").href = `/api/games/${id}/file`;
  logged = state.log.length;
  if (watched) await watch(judged);
  logged = state.log.length;
  draw(state.film.at(-1));
  showLog(state.log.length);
  if (state.ended) await showEnd();
  else if (state.watched) await showLaw();
  else showMoves();
}

function showMoves() {
  by("moves").hidden = false;
  by("undo").disabled = !state.made;
  by("welcome").hidden = Boolean(state.made || !state.welcome);
  by("welcome").firstElementChild.textContent = state.welcome;
  by("turn").textContent = state.persons.length > 1 ? `Now ${state.names[state.seat]}` : "";
  offer(state, move);
}


// Show the verdict on the player's move if it is to be judged, and then the moves of the other players
// one after the other; a click or a key skips a pause.
async function watch(judged) {
  const before = state.log.length - state.news;
  const time = still.matches ? 0 : Math.min(PAUSE, LONGEST / state.film.length);
  const own = state.made ? 1 : 0; // the player has seen its own move
  logged = before + own;
  showLog(logged);
  if (own) draw(state.film[own]);
  if (judged) await judge();
  for (let number = own; number < state.film.length - 1; number += 1) {
    draw(state.film[number]);
    logged = before + number + 1;
    showLog(logged);
    await pause(time);
  }
}

function showLog(count) {
  let own = 0;
  let since = 0; // moves of others since the player's last
  const lines = state.log.slice(0, count).map((event) => {
    const mine = state.persons.includes(event.seat);
    const told = element("button", { type: "button", class: "told" }, element("b", {}, event.who), ` ${event.words}`);
    const line = element("li", { class: mine ? "mine" : "", "data-seat": event.seat % 6 }, told);
    const said = mine ? verdicts[own] : undefined;
    since = mine ? 0 : since + 1;
    // The film of a position begins with the player's own move, if there was one.
    const [made, film] = [own, mine ? -1 : since - (own ? 0 : 1)];
    told.addEventListener("click", () => work(() => look(made, film)));
    if (mine) own += 1;
    if (event.decided) line.append(element("span", { class: "decided" }, event.decided));
    if (said?.words && (state.persons.length === 1 || coached(event.seat))) {
      line.append(element("span", { class: "said", "data-grade": said.grade }, ...graded(said.words, said.grade)));
    }
    return line;
  });
  by("log").replaceChildren(...lines);
  by("log").scrollTop = by("log").scrollHeight;
}

function showAdvice(advice) {
  by("advice").replaceChildren(adviceTable(advice, advice.made === null ? light : () => {}));
  by("idle").hidden = true;
}

function clearAdvice() {
  by("advice").replaceChildren();
  say([]);
  hints = null;
  idle();
  by("ask").textContent = "Hint";
  by("ask").setAttribute("aria-expanded", false);
}

function idle() { // the card of the coach while it says nothing
  by("idle").hidden = Boolean(by("advice").children.length || state?.ended);
  by("idle").textContent = coached(state?.seat)
    ? "What your next move gives away stands here."
    : "Switch the coach on to see what each of your moves gives away.";
}

async function showEnd() {
  by("end").hidden = false;
  by("ending").textContent = state.ended;
  by("reason").textContent = state.reason;
  idle();
  by("account").replaceChildren();
  by("share").textContent = "Copy the result";
  shared = [`${state.title}: ${state.ended}`];
  by("practise").hidden = state.persons.length > 1 || Boolean(state.watched);
  by("practise").href = `/puzzles#${state.practise}`;
  by("again").focus({ preventScroll: true });
  for (const seat of state.persons) {
    if (state.persons.length > 1) by("account").append(element("h2", { class: "who" }, state.names[seat]));
    const review = await inGame(`/review/${seat}`);
    shared.push(resultInWords(review, seat));
    by("account").append(accountPicture(review), reviewPicture(review, (made) => work(() => look(made)), (made) => work(() => retry(made))));
  }
  await inGame("/keep", {});
  state.counts = false;
  keep();
}

// Write the accuracy of a person and the grade of each decision, for a message.
function resultInWords(review, seat) {
  const who = state.persons.length > 1 ? `${state.names[seat]}: ` : "";
  const squares = review.steps.map((step) => SQUARES[step.grade] ?? "").join("");
  return `${who}${review.accuracy ? `accuracy ${review.accuracy} ` : ""}${squares}`;
}

// -------------------------------------------------------------------- the start

by("coach").addEventListener("change", () => {
  coach(by("coach").checked);
  recallNow(by("coach").checked);
});
narrow.addEventListener("change", () => {
  if (isWorking()) return; // it is drawn when the film ends
  redraw();
  if (!state.ended && !past && !state.watched) offerAgain();
});
by("step").addEventListener("click", once(step));
by("unstep").addEventListener("click", () => work(undo));
by("run").addEventListener("click", () => {
  if (!playing) return work(goAlong);
  playing = false;
  return goOn();
});
by("undo").addEventListener("click", () => work(undo));
by("back").addEventListener("click", () => work(undo));
by("ask").addEventListener("click", () => work(hint));
by("again").addEventListener("click", () => work(() => begin(alike((state.seed + 1) % 2 ** 32))));
by("same").addEventListener("click", () => work(() => begin(alike(state.seed, 0))));
by("earlier").addEventListener("click", () => work(() => look(past.made - 1)));
by("later").addEventListener("click", () => work(() => look(past.made + 1)));
by("lookback").addEventListener("click", () => work(() => look(state.made - 1)));
by("retry").addEventListener("click", () => work(() => retry(past.made)));
by("strength").addEventListener("click", () => work(async () => {
  by("who").append((await inGame("/strength")).words);
  by("strength").hidden = true;
}));
by("now").addEventListener("click", () => work(present));
by("link").addEventListener("click", (event) => {
  event.preventDefault();
  work(async () => {
    await copy(by("link").href);
    by("link").textContent = "Link copied";
  });
});
by("share").addEventListener("click", () => work(async () => {
  await copy([...shared, state.command].join("\n"));
  by("share").textContent = "Copied";
}));
by("load").addEventListener("change", () => work(async () => {
  const [file] = by("load").files;
  by("load").value = "";
  if (file) await begin(wishOfFile(await file.text()));
}));
addEventListener("popstate", () => work(arrive));
by("board").addEventListener("click", goOn);
document.addEventListener("keydown", goOn);
by("welcome").querySelector("button").addEventListener("click", () => { by("how").open = true; });

await work(async () => {
  by("coach").checked = Boolean(sessionStorage.getItem("coach"));
  idle();
  await arrive();
});
ask("/api/setup", undefined, "").then((setup) => {
  fillSetup(setup, (wish) => work(() => begin(wish)));
  if (state) showWish(alike(state.seed));
}, (error) => tell(error.message));

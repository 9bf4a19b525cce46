// The game in the browser. The server knows the rules and draws the board; this page shows the board,
// finds the moves for the clicked pieces, and sends moves.

import { accountPicture, adviceTable, graded } from "./coach.js";
import { by, element } from "./element.js";
import { forget, listen } from "./keys.js";
import { enliven, remember } from "./motion.js";
import { exactMove, fitting, withoutPiece, withPiece } from "./pieces.js";
import { reviewPicture } from "./review.js";
import { ask } from "./server.js";
import { fillSetup, wishOfFile, wishOfLink } from "./setup.js";

const PAUSE = 900; // milliseconds for which another player's move is shown
const LONGEST = 4000; // milliseconds for all of them; many moves are shown faster
const MANY = 6; // in games with more actions, moves without pieces are numbers in a grid
const narrow = matchMedia("(max-width: 34rem)");

let id = ""; // the random name of the game, which only this page and the server know
let state = null;
let chosen = new Set(); // numbers of the chosen pieces
let touched = false; // whether the player has chosen pieces since the last move
let picked = null; // the move that was chosen by its number
let verdicts = []; // the coach's verdict on each move so far
let logged = 0; // number of moves in the log, fewer than all while those of the others are shown
let hints = null; // the advice on the coming move and the number of hints shown, once one is asked
let past = null; // the number of moves before the position looked at, and its answer, in a review
let shown = null; // the scene on the board
let hurry = null; // a function that ends the pause, during a pause

// ------------------------------------------------------------------ the server

const inGame = (path, body) => ask(`/api/games/${id}${path}`, body);

// Run a task, unless another one is running; show its error on the page.
let working = false;
async function work(task) {
  if (working) {
    hurry?.();
    return;
  }
  working = true;
  document.body.setAttribute("aria-busy", "true");
  tell("");
  try {
    await task();
  } catch (error) {
    tell(error.message);
  } finally {
    working = false;
    document.body.removeAttribute("aria-busy");
  }
}

// Ignore the second click of a double click, which may hit a button of the next move.
const once = (task) => (event) => { if (event.detail < 2) work(task); };

function tell(words) {
  by("message").textContent = words;
  by("message").hidden = !words;
}

// -------------------------------------------------------------------- the game

function openSetup(open) { // the form is folded on small screens
  by("open").ariaExpanded = open;
  document.querySelector("header").classList.toggle("unfolded", open);
}

async function begin(wish) {
  const answer = await ask("/api/games", wish);
  if (answer.coach && !Object.keys(wish).length) coach(true);
  openSetup(false);
  if (id && !location.hash.includes("=")) history.pushState(null, "", `#${answer.id}`);
  else history.replaceState(null, "", `#${answer.id}`);
  ({ id } = answer);
  verdicts = [];
  clearAdvice();
  await show(answer, !answer.made);
  if (answer.made && by("coach").checked) await recall();
}

// Show the game that the address names: an open one by its random name, or any by its options, seed
// and moves. "Back" in the browser comes here too.
async function arrive() {
  const name = location.hash.slice(1);
  try {
    if (name.includes("=") || !name) return await begin(name ? wishOfLink(name) : {});
    const answer = await ask(`/api/games/${name}`);
    id = name;
    verdicts = [];
    clearAdvice();
    await show(answer, false);
    if (by("coach").checked) await recall();
  } catch (error) {
    if (!error.status) throw error;
    history.replaceState(null, "", "#");
    await begin({});
    tell(error.message.replace("Begin a new one.", "This is a new one."));
  }
}

// ------------------------------------------------------------------ a look back

// Show the position before a move and what the move gave away, or a move of another player.
async function look(made, film = -1) {
  clearAdvice();
  past = { made, answer: await inGame(`/past/${made}`) };
  const { answer } = past;
  const scene = answer.film.at(film);
  const own = film === -1 && made < state.made;
  by("moves").hidden = by("end").hidden = true;
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

const retry = (made) => begin({ again: id, made });

function coach(on) { // the setting survives a reload
  by("coach").checked = on;
  idle();
  sessionStorage.setItem("coach", on ? "on" : "");
}

async function move(action) {
  light([]);
  const answer = await inGame("/moves", { action, made: state.made });
  clearAdvice();
  await show(answer, true, by("coach").checked);
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

// Show sentences of the coach below the board; the first may begin with a grade, and the later ones.
function say(sentences, first = "", last = first) {
  by("verdict").replaceChildren(...sentences.map((words, place) =>
    element("p", {}, ...graded(words, place ? last : first))));
  by("verdict").dataset.grade = last;
  by("verdict").hidden = !sentences.length;
}

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
  by("ask").textContent = left > 1 ? "Next hint" : left ? "Show the best move" : "Hide";
  if (!left) showAdvice(advice);
}

// ------------------------------------------------------------------ the display

async function show(answer, watched, judged = false) {
  state = answer;
  chosen = new Set();
  touched = false;
  picked = null;
  forget();
  by("rules").textContent = state.rules;
  by("worth").replaceChildren(...state.worth.map(([words, worth]) => element("tr", {},
    element("th", { scope: "row" }, words), element("td", {}, worth))));
  by("seed").replaceChildren(`Seed ${state.seed}. The same game again: `,
    element("code", {}, state.command));
  by("rivals").hidden = !state.against.length;
  by("who").replaceChildren(...state.against.flatMap((one) =>
    [element("b", {}, `${one.title}. `), `${one.about} `]));
  by("strength").hidden = false;
  document.title = `${state.title} – exactdice`;
  by("moves").hidden = by("end").hidden = by("past").hidden = true;
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
  else showMoves();
}

// Draw a scene, unless it is on the board: its dice may be rolling.
function draw(scene) {
  if (scene === shown) return;
  const before = remember(by("board").firstElementChild);
  shown = scene;
  by("board").innerHTML = narrow.matches ? scene.narrow : scene.wide;
  enliven(by("board").firstElementChild, before);
}

// Show the verdict on the player's move if it is to be judged, and then the moves of the other players
// one after the other; a click or a key skips a pause.
async function watch(judged) {
  const before = state.log.length - state.news;
  const hasty = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const pause = hasty ? 0 : Math.min(PAUSE, LONGEST / state.film.length);
  const own = state.made ? 1 : 0; // the player has seen its own move
  logged = before + own;
  showLog(logged);
  if (own) draw(state.film[own]);
  if (judged) await judge();
  for (let number = own; number < state.film.length - 1; number += 1) {
    draw(state.film[number]);
    logged = before + number + 1;
    showLog(logged);
    if (pause) {
      await new Promise((resolve) => { hurry = resolve; setTimeout(resolve, pause); });
    }
  }
  hurry = null;
}

function showLog(count) {
  let own = 0;
  let since = 0; // moves of others since the player's last
  const lines = state.log.slice(0, count).map((event) => {
    const mine = event.seat === state.seat;
    const told = element("button", { type: "button", class: "told" }, element("b", {}, event.who), ` ${event.words}`);
    const line = element("li", { class: mine ? "mine" : "", "data-seat": event.seat % 6 }, told);
    const said = mine ? verdicts[own] : undefined;
    since = mine ? 0 : since + 1;
    // The film of a position begins with the player's own move, if there was one.
    const [made, film] = [own, mine ? -1 : since - (own ? 0 : 1)];
    told.addEventListener("click", () => work(() => look(made, film)));
    if (mine) own += 1;
    if (event.decided) line.append(element("span", { class: "decided" }, event.decided));
    if (said?.words) {
      line.append(element("span", { class: "said", "data-grade": said.grade }, ...graded(said.words, said.grade)));
    }
    return line;
  });
  by("log").replaceChildren(...lines);
  by("log").scrollTop = by("log").scrollHeight;
}

function showMoves() {
  const { choices } = state;
  const plain = numbered();
  by("moves").hidden = false;
  by("undo").disabled = !state.made;
  by("choices").className = plain ? "numbers" : "words";
  by("choices").replaceChildren(...choices.map((choice) => {
    const words = plain ? choice.words.match(/\d+/)?.[0] ?? choice.words : choice.words;
    const button = element("button",
      { type: "button", "data-action": choice.action, title: choice.words, "aria-label": choice.words }, words);
    button.addEventListener("click", once(() => move(choice.action)));
    for (const name of ["pointerenter", "focus"]) {
      button.addEventListener(name, () => light(choice.parts));
    }
    for (const name of ["pointerleave", "blur"]) button.addEventListener(name, () => light([]));
    return button;
  }));
  by("hint").textContent = plain ? "" : hintFor(choices);
  makeClickable();
  showChosen();
  by(ready() ? "play" : "board").focus({ preventScroll: true }); // Enter alone makes no other move
}

// Whether moves are numbers in a grid. This depends on the game, so that a game keeps its control.
function numbered() {
  const { choices, actions } = state;
  return actions > MANY && choices.length > 1 && choices.every((choice) => !choice.parts.length);
}

function hintFor(choices) {
  const pieces = choices.some((choice) => choice.parts.length);
  if (choices.length === 1) return "There is only one move.";
  return pieces ? "Click what you want to take on the board, or choose:" : "";
}

function makeClickable() {
  by("board").firstElementChild.setAttribute("role", "group"); // screen readers skip the parts of an "img"
  const taken = new Set(state.choices.flatMap((choice) => choice.parts));
  const faces = new Set([...taken].map((part) => state.pieces[part]));
  for (const shape of by("board").querySelectorAll("rect[data-part]")) {
    const part = Number(shape.dataset.part);
    if (!faces.has(state.pieces[part])) continue;
    shape.classList.add("open");
    shape.addEventListener("click", () => choose(part));
    shape.setAttribute("tabindex", "0");
    shape.setAttribute("role", "button");
    shape.setAttribute("aria-label", `take ${state.pieces[part]}`);
    shape.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      choose(part);
    });
  }
}

function choose(part) {
  if (working) return;
  touched = true;
  picked = null;
  const change = chosen.has(part) ? withoutPiece : withPiece;
  chosen = change(part, chosen, state.choices, state.pieces);
  showChosen();
}

// Choose by digits on the keyboard: a die or a tile with this number, with those that every such move
// takes, or else a move by its number. 0 chooses no piece, and no digit chooses nothing. Return whether
// there is such a move.
function chooseNumber(digits) {
  const taken = new Set(state.choices.flatMap((choice) => choice.parts));
  if (!digits || (taken.size && digits === "0")) {
    chosen.clear();
    picked = null;
    touched = Boolean(digits);
  } else if (taken.size) {
    const same = [...taken].filter((part) => String(state.pieces[part]) === digits);
    const part = same.find((one) => !chosen.has(one));
    if (part !== undefined) choose(part);
    if (!same.length) return false;
  } else {
    const found = state.choices.find((choice) => choice.action === Number(digits));
    if (!found) return false;
    picked = found;
  }
  showChosen();
  if (ready()) by("play").focus({ preventScroll: true });
  return true;
}

// Return the move that the main button makes: none before the player has chosen, so that Enter alone
// gives nothing away.
function ready() {
  if (state.choices.length === 1) return state.choices[0];
  if (picked || !touched) return picked ?? undefined;
  return exactMove(chosen, state.choices, state.pieces);
}

function showChosen() {
  for (const shape of by("board").querySelectorAll("rect.open")) {
    const on = chosen.has(Number(shape.dataset.part));
    shape.classList.toggle("chosen", on);
    shape.setAttribute("aria-pressed", on);
  }
  const now = ready();
  by("play").textContent = now ? now.words : chosen.size ? "choose more" : "choose a move";
  by("play").disabled = !now;
  const fit = new Set(fitting(chosen, state.choices, state.pieces).map((choice) => choice.action));
  for (const button of by("choices").children) {
    const action = Number(button.dataset.action);
    button.classList.toggle("fits", chosen.size > 0 && fit.has(action));
    button.classList.toggle("off", chosen.size > 0 && !fit.has(action));
    button.classList.toggle("now", action === picked?.action);
  }
}

function light(parts) {
  for (const shape of by("board").querySelectorAll("rect[data-part]")) {
    shape.classList.toggle("lit", parts.includes(Number(shape.dataset.part)));
  }
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
  by("idle").textContent = by("coach").checked
    ? "What your next move gives away stands here."
    : "Switch the coach on to see what each of your moves gives away.";
}

async function showEnd() {
  by("end").hidden = false;
  by("ending").textContent = state.ended;
  by("reason").textContent = state.reason;
  idle();
  by("account").replaceChildren();
  by("again").focus({ preventScroll: true });
  by("account").replaceChildren(accountPicture(await inGame("/account")));
  const review = await inGame("/review");
  by("account").append(reviewPicture(review, (made) => work(() => look(made)), (made) => work(() => retry(made))));
}

// -------------------------------------------------------------------- the start

by("open").addEventListener("click", () => openSetup(by("open").ariaExpanded !== "true"));
by("coach").addEventListener("change", () => {
  coach(by("coach").checked);
  if (by("coach").checked && state.made) work(recall);
});
narrow.addEventListener("change", () => {
  if (working) return; // it is drawn when the film ends
  const scene = shown;
  shown = null;
  draw(scene);
  if (!state.ended && !past) {
    makeClickable();
    showChosen();
  }
});
by("play").addEventListener("click", once(() => move(ready().action)));
by("undo").addEventListener("click", () => work(undo));
by("back").addEventListener("click", () => work(undo));
by("ask").addEventListener("click", () => work(hint));
by("again").addEventListener("click", () => work(() => begin({ again: id, seed: (state.seed + 1) % 2 ** 32 })));
by("same").addEventListener("click", () => work(() => begin({ again: id, seed: state.seed })));
by("earlier").addEventListener("click", () => work(() => look(past.made - 1)));
by("later").addEventListener("click", () => work(() => look(past.made + 1)));
by("retry").addEventListener("click", () => work(() => retry(past.made)));
by("strength").addEventListener("click", () => work(async () => {
  by("who").append((await inGame("/strength")).words);
  by("strength").hidden = true;
}));
by("now").addEventListener("click", () => work(present));
by("link").addEventListener("click", (event) => {
  event.preventDefault();
  work(async () => {
    await navigator.clipboard.writeText(by("link").href);
    by("link").textContent = "Link copied";
  });
});
by("load").addEventListener("change", () => work(async () => {
  const [file] = by("load").files;
  by("load").value = "";
  if (file) await begin(wishOfFile(await file.text()));
}));
addEventListener("popstate", () => work(arrive));
by("board").addEventListener("click", () => hurry?.());
document.addEventListener("keydown", () => hurry?.());
listen(chooseNumber);
for (const card of document.querySelectorAll("aside > details")) card.open = !narrow.matches;

await work(async () => {
  fillSetup(await ask("/api/setup"), (wish) => work(() => begin(wish)));
  coach(Boolean(sessionStorage.getItem("coach")));
  await arrive();
});

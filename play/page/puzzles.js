// Puzzles: find the best move in positions that a player gets wrong.

import { draw, narrow, redraw } from "./board.js";
import { adviceTable, verdictOf } from "./coach.js";
import { by, element } from "./element.js";
import { offer, offerAgain } from "./picker.js";
import { ask } from "./server.js";
import { openSetup, showRules } from "./sheets.js";
import { once, soon, work } from "./work.js";

const LEVELS = {
  easy: "Easy: at most 8 moves, and every move but the best is a blunder.",
  medium: "Medium: between easy and hard.",
  hard: "Hard: another move gives away so little that it is not even a mistake.",
};
const OWN = "own"; // the source of puzzles from the person's own games
const form = by("setup");
const say = verdictOf(by("verdict"));
let games = [];
let id = ""; // the random name of this run of puzzles
let state = null;
let given = {}; // the game of the link that led here, and its keywords

// The puzzle of the day is the first one whose seed is the date (Swedish dates are 2026-11-29), of any level.
const today = () => new Date().toLocaleDateString("sv").replaceAll("-", "");
const ofToday = (wish) => (wish.level === "day" ? { ...wish, level: "any", seed: Number(today()) } : wish);

const post = (path, body) => ask(`/api/puzzles${path}`, body);

function fillForm(setup) {
  ({ games } = setup);
  form.elements.game.replaceChildren(
    ...games.map((game) => element("option", { value: game.name }, game.title)));
  const { game, of, level, ...env } = Object.fromEntries(new URLSearchParams((location.hash || location.search).slice(1)));
  given = { game, env };
  form.elements.game.value = games.some(({ name }) => name === game) ? game : setup.first;
  showPlayers(of);
  if (level) form.elements.level.value = level;
}

// List the players whose decisions are asked.
function showPlayers(of) {
  const game = games.find(({ name }) => name === form.elements.game.value);
  form.elements.of.replaceChildren(
    ...game.puzzles.map(({ name, title }) => element("option", { value: name }, title)),
    element("option", { value: OWN }, "you"));
  if (of) form.elements.of.value = of;
  if (form.elements.of.value === OWN) form.elements.level.value = "any";
}

function wished() {
  const { game, of, level } = form.elements;
  const env = given.game === game.value ? given.env : {};
  return { game: game.value, of: of.value, level: level.value, env };
}

async function begin(wish) {
  const answer = await post("", ofToday(wish));
  ({ id } = answer);
  openSetup(false);
  const { env, ...others } = wish;
  history.replaceState(null, "", `#${new URLSearchParams({ ...others, ...env })}`);
  show(answer);
}

function show(answer) {
  state = answer;
  document.title = `Puzzles: ${state.title} – exactdice`;
  showRules(state);
  by("score").textContent = state.score.replaceAll(" %", "\u00a0%") || "No puzzle answered yet.";
  const { choices, advice } = state;
  by("moves").hidden = Boolean(advice) || !choices.length;
  by("solved").hidden = !advice;
  by("none").hidden = by("board").hidden = true;
  by("advice").replaceChildren();
  by("idle").hidden = Boolean(advice);
  say([]);
  if (!choices.length) return showNone();
  by("board").hidden = false;
  by("level").textContent = LEVELS[state.level];
  const isToday = form.elements.level.value === "day" && !state.answered;
  by("task").textContent = isToday ? "The puzzle of the day: find the best move." : "Find the best move.";
  draw(state.film[0]);
  if (!advice) return offer(state, answerWith);
  return showAnswer(advice);
}

function showAnswer(advice) {
  const made = advice.moves.find((move) => move.action === advice.made);
  say([advice.verdict, `You ${made.words}. ${state.said}`, state.score], advice.grade, "");
  by("verdict").dataset.grade = advice.grade;
  by("advice").replaceChildren(adviceTable(advice, () => {}));
  by("next").focus({ preventScroll: true });
}

function showNone() {
  by("level").textContent = "";
  by("none").hidden = false;
  const own = form.elements.of.value === OWN;
  by("none").textContent = state.answered ? "These were all puzzles of this kind."
    : own ? "There is no puzzle of this kind in your games yet: play some, and the costliest moves come here."
      : "There is no puzzle of this kind: choose another level or player.";
}

const answerWith = async (action) => show(await post(`/${id}/answer`, { action }));

by("next").addEventListener("click", once(async () => show(await post(`/${id}/next`, { answered: state.answered }))));
form.elements.game.addEventListener("change", () => showPlayers());
form.elements.of.addEventListener("change", () => {
  if (form.elements.of.value === OWN) form.elements.level.value = "any";
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const wish = wished();
  soon(() => begin(wish));
});
narrow.addEventListener("change", () => {
  redraw();
  if (state?.choices.length && !state.advice) offerAgain();
});
await work(async () => {
  fillForm(await ask("/api/setup"));
  await begin(wished());
});

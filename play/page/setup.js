// The form above the game: the game, the opponents, the seat, the seed and the rules.

import { by, element } from "./element.js";

const form = by("setup");
const ALONE = "alone";
const PERSON = "person"; // the opponent at the same screen
const OTHER = "other"; // the entry of a list that leads to a field for free words
const SEATS = ["first", "second", "third", "fourth", "fifth", "sixth"];
let games = [];
let given = null; // the agent that the command line names, and its game

export function fillSetup(setup, onWish) {
  games = setup.games;
  form.elements.game.replaceChildren(
    ...games.map((game) => element("option", { value: game.name }, game.title)));
  form.elements.game.value = setup.first;
  form.inert = false;
  form.elements.game.addEventListener("change", showGame);
  by("keywords").addEventListener("input", showSeats);
  form.elements.seat.addEventListener("change", showAgainst);
  form.elements.against.addEventListener("change", showAgainst);
  given = setup.watch ? { game: setup.first, name: setup.watch } : null;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    onWish(wish());
  });
  showGame();
}

const chosen = () => games.find((game) => game.name === form.elements.game.value);

function showGame() {
  const game = chosen();
  form.elements.against.replaceChildren(
    ...game.opponents.map(({ name, title }) => element("option", { value: name }, title)));
  form.elements.against.value = game.against;
  showAgents(game);
  by("keywords").replaceChildren(...game.keywords.map((keyword) => {
    const field = fieldOf(keyword);
    const help = element("span", { class: "help" });
    const label = element("label", { title: keyword.about }, keyword.name.replaceAll("_", " "), field, help);
    const explain = () => { // a long entry is cut in the list
      const [entry] = label.contains(field) ? field.selectedOptions ?? [] : [];
      help.textContent = entry ? entry.textContent : keyword.about;
    };
    label.addEventListener("change", explain);
    explain();
    return label;
  }));
  form.elements.seat.replaceChildren();
  showSeats();
  if (game.players > 1) form.elements.seat.value = game.seat;
  showAgainst();
}

// Show in the form the game that is played.
export function showWish({ game, env = {}, against, seat, watch }) {
  if (!games.some(({ name }) => name === game)) return;
  form.elements.game.value = game;
  showGame();
  for (const [name, value] of Object.entries(env)) {
    const field = form.elements[`env ${name}`];
    if (field) put(field, value);
  }
  showSeats();
  if (seat !== undefined || chosen().players > 1) form.elements.seat.value = seat ?? 0;
  if (against) put(form.elements.against, against);
  form.elements.watch.value = watch ?? "";
  showAgainst();
}

// Enter a value into a field, or a list, which gets an entry for one that it has not.
function put(field, value) {
  if (field.options && ![...field.options].some((one) => one.value === value)) {
    field.append(element("option", { value }, value));
  }
  field.value = value;
}

// List who may make the moves: the person, or a policy that is watched.
function showAgents(game) {
  const agents = game.opponents.filter(({ name }) => name !== PERSON);
  const own = given?.game === game.name && !agents.some(({ name }) => name === given.name);
  form.elements.watch.replaceChildren(element("option", { value: "" }, "you"),
    ...[...(own ? [{ name: given.name, title: given.name }] : []), ...agents]
      .map(({ name, title }) => element("option", { value: name }, title)));
  form.elements.watch.value = given?.game === game.name ? given.name : "";
}

// A list to choose from, or a field for a number or for free words.
function fieldOf(keyword) {
  const name = `env ${keyword.name}`;
  if (!keyword.options.length) {
    const input = element("input",
      { name, placeholder: keyword.default ?? "none", size: 9, autocomplete: "off" });
    input.value = keyword.given ?? "";
    return input;
  }
  const list = element("select", { name }, ...keyword.options.map(([value, words]) =>
    element("option", { value: value === keyword.default ? "" : value }, words)));
  if (keyword.open) list.append(element("option", { value: OTHER }, "another value ..."));
  list.addEventListener("change", () => {
    if (list.value !== OTHER) return;
    const input = fieldOf({ ...keyword, options: [] });
    list.replaceWith(input);
    input.focus();
  });
  list.value = keyword.given === null || keyword.given === keyword.default ? "" : keyword.given;
  return list;
}

const typed = () => [...by("keywords").querySelectorAll("input, select")]
  .map((field) => [field.name.slice(4), field.value.trim()]).filter(([, value]) => value);

function showSeats() {
  const game = chosen();
  const sizes = Object.fromEntries(typed());
  const alone = game.players === 1;
  const usual = !alone ? game.players : Object.keys(game.for_two).length ? 2 : 0;
  const players = Math.min(Number(sizes.players) || usual, 30);
  const before = form.elements.seat.value;
  form.elements.seat.replaceChildren(
    ...(alone ? [element("option", { value: ALONE }, "alone")] : []),
    ...Array.from({ length: players }, (_, seat) =>
      element("option", { value: seat }, SEATS[seat] ?? `as number ${seat + 1}`)));
  if ([...form.elements.seat.options].some((one) => one.value === before)) {
    form.elements.seat.value = before;
  }
  showAgainst();
}

function showAgainst() {
  const { against, seat, watch } = form.elements;
  const together = against.value === PERSON && seat.value !== ALONE;
  against.disabled = seat.value === ALONE;
  seat.disabled = together && seat.options[0]?.value !== ALONE;
  watch.disabled = together;
  const one = chosen().opponents.find(({ name }) => name === against.value);
  by("about").textContent = against.disabled || !one ? "" : one.about;
}

// What is no number goes to the server as it was typed, so that its answer can name it.
const numberOf = (word) => (/^\d{1,10}$/.test(word) ? Number(word) : word);

// Return the request for a new game; without a seed the server draws one.
export function wish() {
  const { game, against, seat, seed, watch } = form.elements;
  const asked = { game: game.value, env: Object.fromEntries(typed()) };
  if (seat.value !== ALONE) {
    // Rules for two players for a game that has one by default; typed rules override them.
    asked.env = { ...chosen().for_two, ...asked.env };
    asked.seat = Number(seat.value);
    asked.against = against.value;
  }
  if (watch.value && !watch.disabled) asked.watch = watch.value;
  if (seed.value.trim()) asked.seed = numberOf(seed.value.trim());
  return asked;
}

// Return the request for the game of a link: its options, seed and moves.
export function wishOfLink(words) {
  const { game, against, seat, seed, moves, ...env } = Object.fromEntries(new URLSearchParams(words));
  const asked = { game, env };
  if (against) asked.against = against;
  if (seat) asked.seat = numberOf(seat);
  if (seed) asked.seed = numberOf(seed);
  if (moves) asked.moves = moves.split(".").map(numberOf);
  return asked;
}

// Return the request for the game of a file that this page or the terminal has saved.
export function wishOfFile(text) {
  let saved = {};
  try {
    saved = JSON.parse(text);
  } catch { /* refused below */ }
  if (saved?.kind !== "exactdice play") throw new Error("This file is no game that exactdice saved.");
  const { seat, ...env } = saved.env;
  const asked = { game: saved.game, env, seed: saved.seed, moves: saved.actions };
  if (saved.against) asked.against = saved.against;
  if (seat) asked.seat = seat;
  return asked;
}

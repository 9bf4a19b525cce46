// The coach: what moves give away as bars, and the parts of the result.

import { element } from "./element.js";

const TOP = 6; // moves in the table before it is opened, besides the player's own

// Set the grade in bold; a number and its sign stay on one line.
export function graded(words, grade) {
  words = words.replaceAll(" %", "\u00a0%");
  return grade ? [element("b", {}, words.slice(0, grade.length)), words.slice(grade.length)] : [words];
}

// Return a function that shows sentences in a box; the first may begin with a grade, and the later ones.
export const verdictOf = (box) => (sentences, first = "", last = first) => {
  box.replaceChildren(...sentences.map((words, place) => element("p", {}, ...graded(words, place ? last : first))));
  box.dataset.grade = last;
  box.hidden = !sentences.length;
};

// List the moves, the best first; the player's own is always in sight.
export function adviceTable(advice, onHover) {
  const sorted = advice.moves.map((move, place) => ({ ...move, place }))
    .sort((one, two) => one.exact[1] - two.exact[1] || one.place - two.place);
  const rows = sorted.map((move, rank) => adviceRow(move, rank, advice.made, onHover));
  const law = advice.moves.some((move) => move.law !== undefined);
  const head = ["move", ...(law ? ["played"] : []), "gives away", "worth"].map((word) => element("th", { scope: "col" }, word));
  const table = element("table", { class: law ? "folded lawful" : "folded" },
    element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows));
  const buttons = [switchOf("exact", "Exact numbers", table)];
  if (rows.some((row) => row.classList.contains("later"))) {
    buttons.unshift(switchOf("unfolded", `All ${rows.length} moves`, table));
  }
  return element("div", {}, table, element("div", { class: "line" }, ...buttons),
    element("p", { class: "small" }, `${advice.thresholds} Worth: ${advice.meaning}`));
}

function adviceRow(move, rank, own, onHover) {
  const made = move.action === own;
  const bar = element("span", { class: `bar ${move.grade}` });
  bar.style.width = `${100 * move.bar}%`;
  const classes = [move.best ? "best" : "", made ? "made" : "", rank >= TOP && !made ? "later" : ""];
  const [value, cost] = move.exact;
  const row = element(
    "tr",
    { class: classes.filter(Boolean).join(" "), "data-action": move.action },
    element("th", { scope: "row" }, move.words, made ? element("b", {}, move.law === undefined ? " (yours)" : " (made)") : ""),
    ...(move.law === undefined ? [] : [lawCell(move.law)]),
    element("td", { class: "cost" }, element("span", { class: "track" }, bar),
      twice(move.best ? "best" : move.cost, cost)),
    element("td", { class: "value" }, twice(move.value, value)),
  );
  row.addEventListener("pointerenter", () => onHover(move.parts));
  row.addEventListener("pointerleave", () => onHover([]));
  return row;
}

// How often an agent plays the move.
function lawCell(law) {
  const bar = element("span", { class: "bar law" });
  bar.style.width = `${100 * law}%`;
  return element("td", { class: "played" }, element("span", { class: "track" }, bar),
    element("span", { class: "number" }, law && law < 0.0005 ? "< 0.1\u00a0%" : `${(100 * law).toFixed(law === 1 || !law ? 0 : 1)}\u00a0%`));
}

// A number as a person reads it, and its four decimals, of which the table shows one.
function twice(round, exact) {
  return element("span", { class: "number" }, element("span", { class: "round" }, round),
    element("span", { class: "decimals" }, exact));
}

// A button that switches a class of the table.
function switchOf(name, words, table) {
  const button = element("button", { type: "button", class: "quiet", "aria-pressed": false }, words);
  button.addEventListener("click", () => {
    button.setAttribute("aria-pressed", table.classList.toggle(name));
  });
  return button;
}

// The parts of the result as bars; each bar begins where the bar before it ends.
export function accountPicture(account) {
  const minus = (number) => number.replace("-", "−");
  const signed = ({ number }) => (Number(number) < 0 ? minus(number) : `+${number}`);
  const [expected, lost, luck, payoff] = account.parts;
  const sums = [expected, lost, luck].reduce(
    (so, { number }) => [...so, so.at(-1) + Number(number)], [0]);
  const steps = [
    ["expected", 0, sums[1], minus(expected.number), "expected"],
    ["given away", sums[1], sums[2], Number(lost.number) ? signed(lost) : lost.number, "lost"],
    [Number(luck.number) < 0 ? "bad luck" : "luck", sums[2], sums[3], signed(luck),
      Number(luck.number) < 0 ? "bad" : "luck"],
    ["your result", 0, sums[3], `= ${minus(payoff.number)}`, "result"],
  ];
  const ends = steps.flatMap(([, from, to]) => [from, to]);
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const place = (value) => (high > low ? (100 * (value - low)) / (high - low) : 0);
  const lines = steps.map(([words, from, to, number, kind]) => {
    const bar = element("span", { class: `bar ${kind}` });
    bar.style.left = `${place(Math.min(from, to))}%`;
    bar.style.width = `${Math.abs(place(to) - place(from))}%`;
    return element("div", { class: "step" }, element("span", {}, words),
      element("span", { class: "track" }, bar),
      element("b", {}, number, element("span", { class: "sign" }, ` ${account.unit}`)));
  });
  return element("div", { class: "steps" }, element("h2", {}, "Skill and luck"), ...lines);
}

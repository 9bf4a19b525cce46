// The coach: the values of moves as bars, and the parts of the result.

import { element } from "./element.js";

export function adviceTable(advice, onHover) {
  const rows = advice.moves.map((move) => {
    const made = move.action === advice.made;
    const bar = element("span", { class: "bar" });
    bar.style.width = `${100 * move.share}%`;
    const cost = move.best ? "nothing" : move.cost;
    const row = element(
      "tr",
      { class: `${move.best ? "best" : ""} ${made ? "made" : ""}`, "data-action": move.action },
      element("th", { scope: "row" }, move.words, made ? element("b", {}, " (yours)") : ""),
      element("td", { class: "value" }, element("span", { class: "track" }, bar), move.value),
      element("td", { class: "cost" }, cost),
    );
    row.addEventListener("pointerenter", () => onHover(move.parts));
    row.addEventListener("pointerleave", () => onHover([]));
    return row;
  });
  const head = ["move", "worth", "gives away"].map((word) => element("th", { scope: "col" }, word));
  const table = element("table", {}, element("thead", {}, element("tr", {}, ...head)),
    element("tbody", {}, ...rows));
  const box = element("div", { class: "scroll", tabindex: 0, "aria-label": "What moves are worth" }, table);
  return element("div", {}, box, element("p", { class: "small" }, `Worth is ${advice.meaning}`));
}

// The parts of the result as bars; each bar begins where the bar before it ends.
export function accountPicture(account) {
  const signed = ({ number }) => (Number(number) < 0 ? number.replace("-", "−") : `+${number}`);
  const [expected, lost, luck, payoff] = account.parts;
  const sums = [expected, lost, luck].reduce(
    (so, { number }) => [...so, so.at(-1) + Number(number)], [0]);
  const steps = [
    ["expected", 0, sums[1], expected.number.replace("-", "−"), "expected"],
    ["given away", sums[1], sums[2], Number(lost.number) ? signed(lost) : "−0.0000", "lost"],
    [Number(luck.number) < 0 ? "bad luck" : "luck", sums[2], sums[3], signed(luck),
      Number(luck.number) < 0 ? "bad" : "luck"],
    ["your result", 0, sums[3], `= ${payoff.number.replace("-", "−")}`, "result"],
  ];
  const ends = steps.flatMap(([, from, to]) => [from, to]);
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const place = (value) => (high > low ? (100 * (value - low)) / (high - low) : 0);
  const lines = steps.map(([words, from, to, number, kind]) => {
    const bar = element("span", { class: `bar ${kind}` });
    bar.style.left = `${place(Math.min(from, to))}%`;
    bar.style.width = `${Math.abs(place(to) - place(from))}%`;
    return element("div", { class: "step" }, element("span", {}, words),
      element("span", { class: "track" }, bar), element("b", {}, number));
  });
  const words = `Skill and luck, in ${account.unit.replace("of a ", "parts of a ")}`;
  return element("div", { class: "steps" }, element("h2", {}, words), ...lines);
}

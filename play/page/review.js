// After the game: the chances from move to move, the accuracy, and the costliest moves.

import { graded } from "./coach.js";
import { element } from "./element.js";

const TICKS = 12; // most moves with a number below the chart
const LEGEND = { lost: "given away", luck: "luck", bad: "bad luck" };
const SAME = 1e-9; // smaller differences are roundings
const SVG = "http://www.w3.org/2000/svg";

export function shape(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// Draw the course of the chances. A move is one unit wide: in its first third the line falls by what
// the move gave away, then it goes where dice and opponents take it.
function chart(review, onJump) {
  const { course, steps } = review;
  const width = steps.length + 1;
  const svg = shape("svg", {
    viewBox: `0 0 ${width} 1`, preserveAspectRatio: "none", role: "img", class: "course",
    "aria-label": `${review.name} in ${steps.length} moves, as a line from ${review.low} to ${review.high}`,
  });
  svg.append(shape("line", { x1: 0, x2: width, y1: 0.5, y2: 0.5, class: "half" }));
  const at = course.map((_, place) => (place ? Math.floor((place + 1) / 2) + (place % 2 ? 0 : 1 / 3) : 0));
  const segment = (from, kind) => shape("line", {
    x1: at[from], y1: 1 - course[from], x2: at[from + 1], y2: 1 - course[from + 1], class: kind,
  });
  for (let place = 0; place < course.length - 1; place += 1) {
    const gain = course[place + 1] - course[place];
    const kinds = place % 2 ? ["lost", "kept", "kept"] : ["bad", "kept", "luck"];
    svg.append(segment(place, kinds[1 + (Math.abs(gain) > SAME ? Math.sign(gain) : 0)]));
  }
  steps.forEach((step, number) => {
    const field = shape("rect", { x: number + 1, y: 0, width: 1, height: 1, class: "step" });
    const words = shape("title", {});
    words.textContent = `Move ${step.number + 1}: ${step.words}${step.lost ? `, gives away ${step.lost}` : ""}`;
    field.append(words);
    field.addEventListener("click", () => onJump(step.number));
    svg.append(field);
  });
  const every = Math.ceil(steps.length / TICKS);
  const ticks = steps.map((step, number) => element("span", {}, ...(number % every ? [] : [tick(step, onJump)])));
  return element("figure", {}, element("figcaption", {}, `${review.name} from move to move: `,
    ...Object.entries(LEGEND).map(([kind, words]) => element("span", { class: `key ${kind}` }, words))),
    element("div", { class: "axis" }, element("span", {}, review.high), element("span", {}, review.low)),
    svg, element("div", { class: "ticks" }, element("span", {}), ...ticks));
}

// The number of a move, which leads there.
function tick(step, onJump) {
  const button = element("button", { type: "button", class: "told", "aria-label": `Move ${step.number + 1}: ${step.words}` }, step.number + 1);
  button.addEventListener("click", () => onJump(step.number));
  return button;
}

function worst(review, number, onJump, onAgain) {
  const step = review.steps[number];
  const jump = element("button", { type: "button", class: "quiet" }, "Jump");
  const again = element("button", { type: "button", class: "quiet" }, "Try again from here");
  jump.addEventListener("click", () => onJump(step.number));
  again.addEventListener("click", () => onAgain(step.number));
  return element("li", { "data-grade": step.grade },
    element("div", {}, element("b", {}, `Move ${step.number + 1}, ${step.words}. `), ...graded(step.verdict, step.grade)),
    element("div", { class: "line" }, jump, again));
}

export function reviewPicture(review, onJump, onAgain) {
  const parts = [chart(review, onJump)];
  if (review.accuracy) {
    parts.unshift(element("p", { class: "accuracy", title: review.meaning },
      element("b", {}, review.accuracy.replace(" ", "\u00a0")), " accuracy ",
      element("span", { class: "small" }, review.meaning)));
  }
  if (review.worst.length) {
    parts.push(element("h2", {}, review.worst.length > 1 ? "The costliest moves" : "The costliest move"),
      element("ol", { class: "worst" },
        ...review.worst.map((number) => worst(review, number, onJump, onAgain))));
  }
  return element("div", { class: "review" }, ...parts);
}

// The board between two moves: dice that have changed roll, bars grow, and new numbers are bold. With
// reduced motion nothing moves, and bold numbers alone tell what has changed.

const still = matchMedia("(prefers-reduced-motion: reduce)");
const LONG = 550; // milliseconds

const get = (shape, ...names) => names.map((name) => shape.getAttribute(name)).join(" ");

// What stays the same when a shape only changes its size, its colour or its words.
const place = (shape) => `${shape.tagName} ${get(shape, "x", "y", "cx", "cy", "height", "r", "text-anchor")}`;

// The dice: squares followed by pips, each as its shapes.
function diceOf(svg) {
  const dice = [];
  for (const square of svg.querySelectorAll("rect")) {
    if (square.getAttribute("width") !== square.getAttribute("height")) continue;
    const shapes = [square];
    while (shapes.at(-1).nextElementSibling?.tagName === "circle") shapes.push(shapes.at(-1).nextElementSibling);
    if (shapes.length > 1) dice.push(shapes);
  }
  return dice;
}

const nameOf = (die) => die.map((shape) => get(shape, "x", "y", "cx", "cy", "width")).join(";");

const pageOf = (svg) => `${svg.getAttribute("width")} ${svg.querySelector("text")?.textContent}`;

// Remember the board before it is drawn again.
export function remember(svg) {
  if (!svg) return null;
  return {
    shapes: new Map([...svg.children].map((shape) => [place(shape), shape])),
    dice: new Set(diceOf(svg).map(nameOf)),
    page: pageOf(svg),
  };
}

// Let what has changed be seen.
export function enliven(svg, before) {
  if (before?.page !== pageOf(svg)) return; // another game, or another size
  for (const shape of svg.children) {
    const old = before.shapes.get(place(shape));
    if (!old) continue;
    if (shape.tagName === "text") {
      const value = Number(shape.getAttribute("font-size")) > 14 && shape.getAttribute("text-anchor") === "start";
      shape.classList.toggle("fresh", value && old.textContent !== shape.textContent);
    } else if (!still.matches) change(shape, old);
  }
  if (still.matches) return;
  diceOf(svg).filter((die) => !before.dice.has(nameOf(die))).forEach(roll);
}

function change(shape, old) {
  const from = { fill: old.getAttribute("fill") };
  const to = { fill: shape.getAttribute("fill") };
  if (from.fill === "none" || to.fill === "none") return;
  if (shape.tagName === "rect") {
    from.width = `${old.getAttribute("width")}px`;
    to.width = `${shape.getAttribute("width")}px`;
  }
  if (from.fill !== to.fill || from.width !== to.width) {
    if (from.fill === to.fill) delete from.fill;
    shape.animate([from, {}], { duration: LONG, easing: "ease-out" });
  }
}

function roll(die, number) {
  const [square] = die;
  const [x, y, side] = ["x", "y", "width"].map((name) => Number(square.getAttribute(name)));
  const transformOrigin = `${x + side / 2}px ${y + side / 2}px`;
  const turn = number % 2 ? -250 : 250;
  for (const shape of die) {
    shape.animate([
      { transform: `translateY(-${side / 3}px) rotate(${turn}deg) scale(.7)`, transformOrigin },
      { transform: "none", transformOrigin },
    ], { duration: LONG, delay: 40 * Math.min(number, 8), easing: "cubic-bezier(.2,.7,.3,1.2)", fill: "backwards" });
  }
}

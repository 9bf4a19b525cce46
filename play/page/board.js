// The board: a scene that the server has drawn, wide or narrow.

import { by } from "./element.js";
import { enliven, remember } from "./motion.js";

export const narrow = matchMedia("(max-width: 34rem)");
let shown = null; // the scene on the board

// Draw a scene, unless it is on the board: its dice may be rolling.
export function draw(scene) {
  if (scene === shown) return;
  const before = remember(by("board").firstElementChild);
  shown = scene;
  by("board").innerHTML = narrow.matches ? scene.narrow : scene.wide;
  enliven(by("board").firstElementChild, before);
}

// Draw the scene again, for another width of the page.
export function redraw() {
  const scene = shown;
  shown = null;
  if (scene) draw(scene);
}

export function light(parts) {
  for (const shape of by("board").querySelectorAll("rect[data-part]")) {
    shape.classList.toggle("lit", parts.includes(Number(shape.dataset.part)));
  }
}

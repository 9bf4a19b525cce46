// One task at a time: while one runs, clicks do nothing but end a pause.

import { by } from "./element.js";

let working = false;
let waiting = null; // a task that comes next
let hurry = null; // a function that ends the pause, during a pause

export const isWorking = () => working;

// Wait; a click or a key goes on at once.
export async function pause(milliseconds) {
  if (!milliseconds) return;
  await new Promise((resolve) => { hurry = resolve; setTimeout(resolve, milliseconds); });
  hurry = null;
}

export const goOn = () => hurry?.();

// Run a task, unless another one is running; show its error on the page.
export async function work(task) {
  if (working) {
    goOn();
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
    const next = waiting;
    waiting = null;
    if (next) work(next);
  }
}

// Run a task as soon as the one that runs has ended; a later one replaces it.
export function soon(task) {
  if (working) waiting = task;
  else work(task);
}

// Ignore the second click of a double click, which may hit a button of the next move.
export const once = (task) => (event) => { if (event.detail < 2) work(task); };

export function tell(words) {
  by("message").textContent = words;
  by("message").hidden = !words;
}

// Choose a move: by the pieces on the board, by its button, or by digits on the keyboard. Each of them
// only chooses; the main button makes the move, and so does a double click.

import { light } from "./board.js";
import { by, element } from "./element.js";
import { forget, listen } from "./keys.js";
import { exactMove, fitting, withoutPiece, withPiece } from "./pieces.js";
import { isWorking, once, work } from "./work.js";

const MANY = 6; // in games with more actions, moves without pieces are numbers in a grid

let offered = { choices: [], pieces: {}, actions: 0 }; // the position
let make = null; // makes a move of the player's choice
let chosen = new Set(); // numbers of the chosen pieces
let touched = false; // whether the player has chosen pieces since the last move
let picked = null; // the move that was chosen by its button or its number

// Offer the moves of a position; `makeMove` is called with the action that the player chooses.
export function offer(position, makeMove) {
  offered = position;
  make = makeMove;
  chosen = new Set(position.kept); // dice stay kept until they are clicked
  if (!exactMove(chosen, offered.choices, offered.pieces)) chosen.clear();
  touched = chosen.size > 0;
  picked = null;
  forget();
  showButtons();
  makeClickable();
  showChosen();
  by(ready() ? "play" : "board").focus({ preventScroll: true }); // Enter alone makes no other move
}

// Make the pieces on a board that was drawn again clickable.
export function offerAgain() {
  makeClickable();
  showChosen();
}

function showButtons() {
  const { choices } = offered;
  const plain = numbered();
  by("choices").className = plain ? "numbers" : "words";
  by("choices").replaceChildren(...choices.map((choice) => {
    const words = plain ? choice.words.match(/\d+/)?.[0] ?? choice.words : choice.words;
    const button = element("button",
      { type: "button", "data-action": choice.action, title: choice.words, "aria-label": choice.words }, words);
    button.addEventListener("click", (event) => pick(choice, event));
    for (const name of ["pointerenter", "focus"]) {
      button.addEventListener(name, () => light(choice.parts));
    }
    for (const name of ["pointerleave", "blur"]) button.addEventListener(name, () => light([]));
    return button;
  }));
  by("hint").textContent = plain ? "" : hintFor(choices);
}

// Whether moves are numbers in a grid. This depends on the game, so that a game keeps its control.
function numbered() {
  const { choices, actions } = offered;
  return actions > MANY && choices.length > 1 && choices.every((choice) => !choice.parts.length);
}

function hintFor(choices) {
  const pieces = choices.some((choice) => choice.parts.length);
  if (choices.length === 1) return "There is only one move.";
  return pieces ? "Choose on the board or here:" : "";
}

function makeClickable() {
  by("board").firstElementChild.setAttribute("role", "group"); // screen readers skip the parts of an "img"
  const taken = new Set(offered.choices.flatMap((choice) => choice.parts));
  const faces = new Set([...taken].map((part) => offered.pieces[part]));
  for (const shape of by("board").querySelectorAll("rect[data-part]")) {
    const part = Number(shape.dataset.part);
    if (!faces.has(offered.pieces[part])) continue;
    shape.classList.add("open");
    shape.addEventListener("click", (event) => {
      const again = event.detail > 1 && touched; // else its first click was on the position before
      if (!again || !chosen.has(part)) choose(part);
      if (again && ready()) work(() => make(ready().action));
    });
    shape.setAttribute("tabindex", "0");
    shape.setAttribute("role", "button");
    const alone = exactMove(new Set([part]), offered.choices, offered.pieces);
    const [verb] = offered.choices[0].words.split(" ");
    shape.setAttribute("aria-label", alone?.words ?? `${verb} ${offered.pieces[part]}`);
    shape.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      choose(part);
    });
  }
}

function pick(choice, event) {
  if (isWorking()) return;
  const again = event.detail > 1 && picked === choice;
  picked = choice;
  chosen = new Set(choice.parts);
  showChosen();
  if (again) work(() => make(choice.action));
  else if (!event.detail) by("play").focus({ preventScroll: true }); // it was chosen by Enter, which plays now
}

function choose(part) {
  if (isWorking()) return;
  touched = true;
  picked = null;
  const change = chosen.has(part) ? withoutPiece : withPiece;
  chosen = change(part, chosen, offered.choices, offered.pieces);
  showChosen();
}

// Choose by digits on the keyboard: a die or a tile with this number, with those that every such move
// takes, or else a move by its number. 0 chooses no piece, and no digit chooses nothing. Return whether
// there is such a move.
function chooseNumber(digits) {
  const taken = new Set(offered.choices.flatMap((choice) => choice.parts));
  if (!digits || (taken.size && digits === "0")) {
    chosen.clear();
    picked = null;
    touched = Boolean(digits);
  } else if (taken.size) {
    const same = [...taken].filter((part) => String(offered.pieces[part]) === digits);
    const part = same.find((one) => !chosen.has(one));
    if (part !== undefined) choose(part);
    if (!same.length) return false;
  } else {
    const found = offered.choices.find((choice) => choice.action === Number(digits));
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
  if (offered.choices.length === 1) return offered.choices[0];
  if (picked || !touched) return picked ?? undefined;
  return exactMove(chosen, offered.choices, offered.pieces);
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
  const fit = new Set(fitting(chosen, offered.choices, offered.pieces).map((choice) => choice.action));
  for (const button of by("choices").children) {
    const action = Number(button.dataset.action);
    button.classList.toggle("fits", chosen.size > 0 && fit.has(action));
    button.classList.toggle("off", chosen.size > 0 && !fit.has(action));
    button.classList.toggle("now", action === now?.action);
    button.setAttribute("aria-pressed", action === now?.action);
  }
}

by("play").addEventListener("click", once(() => make(ready().action)));
listen(chooseNumber);

// Keys: digits choose, Backspace begins again, Enter plays, u takes back, h gives a hint, arrows look back, Escape
// returns.

import { by } from "./element.js";

const BUTTONS = { u: ["undo", "back"], h: ["ask"], Escape: ["now"], ArrowLeft: ["earlier", "lookback"], ArrowRight: ["later"] };
let typed = ""; // the digits of a number so far

export const forget = () => { typed = ""; };

// Listen for keys; `onNumber` is given the number typed so far, and says whether there is such a move.
export function listen(onNumber) {
  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest("form, dialog")) return;
    if (/^(\d|Backspace)$/.test(key) && by("moves").checkVisibility()) {
      const tries = key === "Backspace" ? [""] : [typed + key, key];
      typed = tries.find((digits) => onNumber(digits)) ?? "";
      return;
    }
    const button = (BUTTONS[key] ?? []).map(by).find((one) => one?.checkVisibility() && !one.disabled);
    if (button) button.click();
  });
}

// The form above the game, and the cards beside it. On a narrow screen the cards are closed, and one at a
// time opens as a sheet above its button at the bottom; the page stays where it is.

import { by, element } from "./element.js";

const folded = matchMedia("(max-width: 52rem)");
const cards = [...document.querySelectorAll("aside > details")];

export function closeSheets() {
  for (const card of cards) if (folded.matches) card.open = false;
}

// Show the form, which is folded on small screens, or fold it.
export function openSetup(open) {
  by("open").ariaExpanded = open;
  document.querySelector("header").classList.toggle("unfolded", open);
}

// Fill the card of the rules.
export function showRules({ rules, worth }) {
  by("rules").textContent = rules;
  by("worth").replaceChildren(...worth.map(([words, each]) => element("tr", {},
    element("th", { scope: "row" }, words), element("td", {}, each))));
}

function fold() {
  for (const card of cards) {
    card.name = folded.matches ? "sheet" : "";
    card.open = !folded.matches;
    card.lastElementChild.tabIndex = folded.matches ? 0 : -1; // a long sheet is scrolled by keys, too
  }
}

folded.addEventListener("change", fold);
document.addEventListener("click", ({ target }) => { if (!target.closest("aside, #welcome")) closeSheets(); });
document.addEventListener("keydown", ({ key }) => { if (key === "Escape") closeSheets(); });
by("open").addEventListener("click", () => openSetup(by("open").ariaExpanded !== "true"));
fold();

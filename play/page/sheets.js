// The cards beside the game. On a narrow screen they are closed, and one at a time opens as a sheet above
// its button at the bottom; the page stays where it is.

const folded = matchMedia("(max-width: 52rem)");
const cards = [...document.querySelectorAll("aside > details")];

export function closeSheets() {
  for (const card of cards) if (folded.matches) card.open = false;
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
fold();

// Names for the landmarks of the theme, code that keys can scroll, and no headings without words.
const name = () => {
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  for (const code of document.querySelectorAll("pre > code, .md-typeset__scrollwrap")) code.tabIndex = 0;
  for (const cell of document.querySelectorAll("th:empty")) cell.replaceWith(document.createElement("td"));
  document.querySelectorAll(".md-code__nav").forEach((nav, place) => nav.setAttribute("aria-label", `Code ${place + 1}`));
};
new MutationObserver(name).observe(document.body, { childList: true, subtree: true });
name();

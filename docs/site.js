// Names for the landmarks of the theme, code that keys can scroll, no headings without words, and intervals
// ("1 to 3") in one line.
const name = () => {
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  for (const code of document.querySelectorAll("pre > code, .md-typeset__scrollwrap")) code.tabIndex = 0;
  for (const cell of document.querySelectorAll("th:empty")) cell.replaceWith(document.createElement("td"));
  for (const cell of document.querySelectorAll("td")) {
    if (/^\S*\d to \S*\d$/.test(cell.textContent.trim())) cell.classList.add("whole");
  }
  document.querySelectorAll(".md-code__nav").forEach((nav, place) => nav.setAttribute("aria-label", `Code ${place + 1}`));
};
new MutationObserver(name).observe(document.body, { childList: true, subtree: true });
name();

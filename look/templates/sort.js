// Sorts a table by a column: numbers by size, and rows without a number last.
for (const button of document.querySelectorAll("table.sortable th button")) {
  button.addEventListener("click", () => {
    const head = button.parentNode, body = head.closest("table").tBodies[0];
    const column = head.cellIndex, falls = head.getAttribute("aria-sort") !== "descending";
    const number = (row) => parseFloat(row.cells[column].textContent.replaceAll(",", ""));
    const rows = [...body.rows], sign = falls ? -1 : 1;
    const numeric = rows.some((row) => !Number.isNaN(number(row)));
    rows.sort((one, other) => {
      if (!numeric) {
        return -sign * one.cells[column].textContent.localeCompare(other.cells[column].textContent);
      }
      const [a, b] = [number(one), number(other)];
      if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
      return sign * (a - b);
    });
    for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", falls === numeric ? "descending" : "ascending");
    body.append(...rows);
  });
}

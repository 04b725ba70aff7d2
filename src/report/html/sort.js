"use strict";
// Headings of tables become buttons: upwards, downwards, and back to the first order. What is unknown stays last.
const words = new Intl.Collator("en", { numeric: true });
const next = { none: "ascending", ascending: "descending", descending: "none" };

for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const heads = Array.from(table.tHead.rows[0].cells);
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const order = next[head.getAttribute("aria-sort")];
      heads.forEach((other) => other.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", order);
      body.append(...(order === "none" ? rows : sorted(column, order === "descending" ? -1 : 1)));
    });
  });

  function sorted(column, sign) {
    const number = heads[column].classList.contains("number");
    const keyed = rows.map((row) => {
      const cell = row.cells[column];
      const text = cell.textContent.trim();
      const known = number ? "sort" in cell.dataset : text !== "" && text !== "-";
      return { row, known, key: number ? Number(cell.dataset.sort) : text };
    });
    const compare = (a, b) => {
      if (!a.known || !b.known) return Number(b.known) - Number(a.known);
      if (!number) return sign * words.compare(a.key, b.key);
      return a.key === b.key ? 0 : sign * (a.key < b.key ? -1 : 1);
    };
    return keyed.sort(compare).map((entry) => entry.row);
  }
}

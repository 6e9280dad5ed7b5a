// Numbers in rows: facts with their names, a table of models against measures, and captions with a note.
import { h, setText } from "./dom.js";

/** Names and values; `show` rewrites them only if one has changed. */
export function facts() {
  const element = h("dl", { class: "r1-facts" });
  let shown = "";
  return {
    element,
    /** @param {[name: string, value: string][]} rows */
    show(rows) {
      const signature = JSON.stringify(rows);
      if (signature === shown) return;
      shown = signature;
      element.replaceChildren(
        ...rows.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
      );
    },
  };
}

/**
 * A dot in a tone, for a series that has a line of that tone in a chart.
 *
 * @param {string} tone
 * @param {number} [r]
 */
export const chip = (tone, r = 5) =>
  h(
    "svg",
    { viewBox: "0 0 12 12", class: `r1-chip r1-${tone}`, "aria-hidden": "true" },
    h("circle", { cx: 6, cy: 6, r, class: "r1-dot" }),
  );

/**
 * A table with one row per series and one column per measure; a series without a tone has no chip.
 *
 * @param {{ rows: { key: string, label: string, tone?: string }[], columns: [key: string, words: string][] }} options
 */
export function counters({ rows, columns }) {
  const heads = new Map(columns.map(([key, words]) => [key, h("th", { scope: "col" }, words)]));
  const lines = new Map(
    rows.map(({ key, label, tone }) => {
      const cells = new Map(
        columns.map(([name]) => [name, h("td", { "data-cell": `${key}-${name}` })]),
      );
      const head = h("th", { scope: "row" }, tone ? chip(tone) : null, label);
      return [key, { cells, element: h("tr", {}, head, ...cells.values()) }];
    }),
  );
  const body = [...lines.values()].map(({ element }) => element);
  return {
    element: h(
      "table",
      { class: "r1-counters" },
      h("thead", {}, h("tr", {}, h("td"), ...heads.values())),
      h("tbody", {}, body),
    ),
    /** @type {(row: string, column: string, text: string) => void} */
    set(row, column, text) {
      const cell = lines.get(row)?.cells.get(column);
      if (cell) setText(cell, text);
    },
    /** @type {(column: string, text: string) => void} */
    head(column, text) {
      const cell = heads.get(column);
      if (cell) setText(cell, text);
    },
    /** @type {(row: string, on: boolean) => void} */
    showRow(row, on) {
      const line = lines.get(row);
      if (line) line.element.hidden = !on;
    },
    /** @type {(column: string, on: boolean) => void} */
    showColumn(column, on) {
      for (const { cells } of lines.values()) {
        const cell = cells.get(column);
        if (cell) cell.hidden = !on;
      }
      const cell = heads.get(column);
      if (cell) cell.hidden = !on;
    },
  };
}

/**
 * A picture with its title and a note that changes.
 *
 * @param {string} title
 * @param {Element} picture
 * @param {{ className?: string, below?: boolean }} [style] `below` puts the title under the picture.
 */
export function captioned(title, picture, { className, below = false } = {}) {
  const note = h("span", { class: "r1-muted" });
  const caption = h("figcaption", {}, h("strong", {}, title), " ", note);
  const [first, second] = below ? [picture, caption] : [caption, picture];
  const named = [className, below && "r1-below"].filter(Boolean).join(" ");
  return {
    element: h("figure", { class: named || null }, first, second),
    /** @param {string} text */
    note: (text) => setText(note, text),
  };
}

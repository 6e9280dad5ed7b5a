// The matrices, the interference at each key, and the error of each kept pair, as tables that are also pictures.
import { h } from "../kit/dom.js";
import { cleared, figures, fixed, subscript } from "../kit/number.js";
import { facts } from "../kit/readout.js";

/** @import { Matrix } from "../math/linear.js" */
/** @import { Consequences, Settings } from "./settings.js" */

/** @param {number} v */
const entry = (v) => figures(cleared(v, 1e-9));
/** @type {(tone: string, share: number) => string} */
const wash = (tone, share) =>
  `background:color-mix(in srgb, var(--r1-${tone}) ${Math.round(40 * Math.min(1, share))}%, var(--r1-ground))`;

/** W + (r/s) uᵀ = Ŵ, each entry tinted by its size. */
export function createMatrices() {
  const element = h("div", { class: "r1-matrices" });
  return {
    element,
    /** @param {Pick<Consequences, "W" | "edit">} shown */
    show({ W, edit }) {
      const grown = edit ?? { left: [0, 0], right: [0, 0], W };
      const change = grown.left.map((l) => grown.right.map((r) => l * r));
      const top = Math.max(1e-9, ...[W, change, grown.W].flat(2).map(Math.abs));
      element.replaceChildren(
        matrix("W", W, top),
        operator("+"),
        matrix(
          "r/s",
          grown.left.map((l) => [l]),
          Math.max(...grown.left.map(Math.abs), 1e-9),
        ),
        matrix("uᵀ", [grown.right], Math.max(...grown.right.map(Math.abs), 1e-9)),
        operator("="),
        matrix("Ŵ", grown.W, top),
      );
    },
  };
}

/** @param {string} text */
const operator = (text) => h("span", { class: "r1-operator", "aria-hidden": "true" }, text);

/** @type {(name: string, rows: Matrix, top: number) => HTMLElement} */
function matrix(name, rows, top) {
  const figures = rows.map((row) => row.map(entry).join(", ")).join("; ");
  const cells = rows
    .flat()
    .map((v) =>
      h("span", { style: wash(v < 0 ? "distributed" : "exact", Math.abs(v) / top) }, entry(v)),
    );
  return h(
    "figure",
    { class: "r1-matrix" },
    h("figcaption", {}, name),
    h(
      "div",
      {
        role: "img",
        "aria-label": `${name} = [${figures}]`,
        style: `grid-template-columns:repeat(${rows[0].length}, 1fr)`,
      },
      cells,
    ),
  );
}

/** One bar per key: how far its answer moves, with the value of the formula as a tick across it. */
export function createBars() {
  const rows = h("div", { class: "r1-bars", role: "img" });
  const readout = facts();
  const element = h(
    "figure",
    { class: "r1-plot" },
    h("figcaption", {}, "How far each answer moves"),
    rows,
    h(
      "ul",
      { class: "r1-legend" },
      h("li", {}, h("span", { class: "r1-key-bar" }), "measured ‖(Ŵ − W)kⱼ‖"),
      h("li", {}, h("span", { class: "r1-key-tick" }), "formula ‖r‖·|uᵀkⱼ|/s"),
    ),
  );
  return {
    element,
    facts: readout.element,
    /** @param {Consequences} shown */
    show({ measured, law, total, lawTotal, least, why }) {
      const top = Math.max(1e-9, ...measured, ...law);
      rows.replaceChildren(
        ...measured.map((v, j) =>
          h(
            "div",
            { class: "r1-bar-slot", title: `key ${j + 1}: ${figures(v)}` },
            h("span", { class: "r1-bar-fill", style: `height:${(100 * v) / top}%` }),
            h("span", { class: "r1-bar-tick", style: `bottom:${(100 * law[j]) / top}%` }),
          ),
        ),
      );
      const heard = measured.map((v, j) => `key ${j + 1} ${figures(v)}`).join(", ");
      rows.setAttribute("aria-label", why ?? `Change of each answer: ${heard}`);
      readout.show(why ? [["No edit", why]] : factsOf(total, lawTotal, least));
    },
  };
}

/** @type {(total: number, law: number, least: number) => [string, string][]} */
function factsOf(total, law, least) {
  const ratio = least > 1e-12 ? figures(total / least, 4) : total < 1e-4 ? "1" : "∞";
  /** @param {number} v */
  const written = (v) => figures(cleared(v), 4);
  return [
    ["Interference", written(total)],
    ["By the formula", written(law)],
    ["Least possible", written(least)],
    ["Times the least", ratio],
  ];
}

/** A table of `past`: past[t][i] is the distance from the value of pair i to its answer after t edits. */
export function createMemoryTable() {
  const body = h("tbody");
  const head = h("tr");
  const table = h(
    "table",
    { class: "r1-table" },
    h("caption", {}, "Error of each kept pair, ‖vᵢ − Wₜkᵢ‖, after t edits"),
    h("thead", {}, head),
    body,
  );
  const empty = h("p", { class: "r1-muted" }, "No edit kept yet. Press ‘Keep this edit’.");
  const frame = h(
    "div",
    { class: "r1-scroll", tabindex: "0", role: "group", "aria-label": "Kept pairs" },
    table,
  );
  let last = "";
  return {
    element: h("div", {}, frame, empty),
    /** @type {(settings: Settings, shown: { past: Matrix }) => void} */
    show({ pairs, order }, { past }) {
      const content = JSON.stringify([order, past]);
      if (content === last) return;
      last = content;
      empty.hidden = pairs.length > 0;
      frame.hidden = pairs.length === 0;
      const top = Math.max(1e-9, ...past.flat());
      head.replaceChildren(
        h("th", { scope: "col" }, "pair"),
        ...past.map((_, t) =>
          h("th", { scope: "col" }, t === 0 ? "t = 0" : `${t}: k${subscript(order[t - 1] + 1)}`),
        ),
      );
      body.replaceChildren(
        ...pairs.map((_, i) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, `k${subscript(i + 1)}, v${subscript(i + 1)}`),
            past.map((row) =>
              h("td", { style: wash("law", row[i] / top) }, row[i] < 5e-4 ? "0" : fixed(row[i])),
            ),
          ),
        ),
      );
    },
  };
}

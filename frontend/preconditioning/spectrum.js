// Three spectra on one logarithmic axis: those of the Hessian, of P, and of the Hessian in U.
import { axisAround } from "../kit/axis.js";
import { h, setText } from "../kit/dom.js";
import { bounded, figures } from "../kit/number.js";
import { chip } from "../kit/readout.js";
import { condition, isReached } from "./words.js";

const WIDTH = 360;
const [LEFT, RIGHT, TOP, GAP] = [12, 12, 14, 26];
/** @typedef {"plain" | "P" | "preconditioned"} Name */
/** @type {[key: Name, words: string, tone: string][]} */
const ROWS = [
  ["plain", "H = A ⊗ D", "printed"],
  ["P", "P = VᵀV ⊗ TTᵀ", "law"],
  ["preconditioned", "JᵀHJ, the Hessian in U", "exact"],
];

export function createSpectrum() {
  const height = TOP + GAP * ROWS.length + 16;
  const axis = h("g", { class: "r1-axes" });
  const dots = h("g");
  const svg = h("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img" }, axis, dots);
  const cells = ROWS.map(([key, name, tone]) => ({
    key,
    name,
    word: h("strong", { "data-name": `condition-${key}` }),
    tone,
  }));
  const list = cells.map(({ name, word, tone }) =>
    h("li", {}, chip(tone, 4), h("span", {}, name, ": condition ", word)),
  );
  const element = h(
    "figure",
    { class: "r1-plot r1-spectrum" },
    h("figcaption", {}, "Eigenvalues"),
    svg,
    h("ul", { class: "r1-legend" }, list),
  );
  return {
    element,
    /**
     * Draws the spectra; only that of the Hessian if `hidden`, because the reader has yet to predict the effect of P.
     *
     * @type {(spectra: Record<Name, number[]>, hidden: boolean) => void}
     */
    draw(spectra, hidden) {
      const shown = hidden ? { ...spectra, P: [], preconditioned: [] } : spectra;
      const reached = ROWS.flatMap(([key]) => shown[key].filter((v) => isReached(v, shown[key])));
      const scale = axisAround(reached, "log");
      /** @param {number} v */
      const x = (v) => LEFT + (WIDTH - LEFT - RIGHT) * bounded(scale.share(Math.max(v, 0)), 0, 1);
      axis.replaceChildren(
        ...scale.marks.flatMap((v) => [
          h("line", { x1: x(v), x2: x(v), y1: 2, y2: height - 16 }),
          h("text", { x: x(v), y: height - 3, "text-anchor": "middle" }, scale.format(v)),
        ]),
      );
      dots.replaceChildren(
        ...ROWS.flatMap(([key, , tone], i) =>
          shown[key].map((v) =>
            h("circle", {
              class: `${isReached(v, shown[key]) ? "r1-dot" : "r1-unreached"} r1-${tone}`,
              cx: x(v),
              cy: TOP + GAP * i,
              r: 5,
            }),
          ),
        ),
      );
      for (const { key, word } of cells)
        setText(word, shown[key].length ? condition(shown[key]) : "?");
      const words = cells.map(({ key, name }) => `${name}: ${shown[key].map(inWords).join(", ")}`);
      svg.setAttribute("aria-label", `Eigenvalues. ${words.join(". ")}.`);
    },
  };
}

/** @type {(v: number, i: number, values: number[]) => string} */
const inWords = (v, _, values) => (isReached(v, values) ? figures(v) : "zero");

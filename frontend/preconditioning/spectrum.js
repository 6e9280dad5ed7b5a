// Three spectra on one logarithmic line: the Hessian's, P's, and what is left of the Hessian after P.
import { h, setText } from "../kit/dom.js";
import { figures, power } from "../kit/number.js";
import { chip } from "../kit/readout.js";
import { condition, isReached } from "./words.js";

const WIDTH = 360;
const [LEFT, RIGHT, TOP, GAP] = [12, 12, 14, 26];
/** @typedef {"plain" | "P" | "preconditioned"} Name */
/** @type {[key: Name, words: string, tone: string][]} */
const ROWS = [
  ["plain", "H = A ⊗ D", "printed"],
  ["P", "P = VᵀV ⊗ TTᵀ", "law"],
  ["preconditioned", "JᵀHJ, seen by U", "exact"],
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
    /** @param {Record<Name, number[]>} spectra */
    draw(spectra) {
      const reached = ROWS.flatMap(([key]) =>
        spectra[key].filter((v) => isReached(v, spectra[key])),
      );
      const low = Math.floor(Math.log10(Math.min(...reached)) + 1e-9);
      const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...reached)) - 1e-9));
      /** @param {number} v */
      const x = (v) =>
        LEFT + ((WIDTH - LEFT - RIGHT) * (Math.log10(Math.max(v, 10 ** low)) - low)) / (high - low);
      axis.replaceChildren(...decades(low, high, x, height));
      dots.replaceChildren(
        ...ROWS.flatMap(([key, , tone], i) =>
          spectra[key].map((v) =>
            h("circle", {
              class: `${isReached(v, spectra[key]) ? "r1-dot" : "r1-unreached"} r1-${tone}`,
              cx: x(v),
              cy: TOP + GAP * i,
              r: 5,
            }),
          ),
        ),
      );
      for (const { key, word } of cells) setText(word, condition(spectra[key]));
      const words = cells.map(
        ({ key, name }) => `${name}: ${spectra[key].map(inWords).join(", ")}`,
      );
      svg.setAttribute("aria-label", `Eigenvalues. ${words.join(". ")}.`);
    },
  };
}

/** @type {(v: number, i: number, values: number[]) => string} */
const inWords = (v, _, values) => (isReached(v, values) ? figures(v) : "zero");

/** @type {(low: number, high: number, x: (v: number) => number, height: number) => SVGElement[]} */
function decades(low, high, x, height) {
  const stride = Math.ceil((high - low) / 6);
  const marks = [];
  for (let k = low; k <= high; k += stride) {
    const across = x(10 ** k);
    marks.push(
      h("line", { x1: across, x2: across, y1: 2, y2: height - 16 }),
      h("text", { x: across, y: height - 3, "text-anchor": "middle" }, power(k)),
    );
  }
  return marks;
}

// The interference matrix: the fraction of a residual stored at one key (row) that is read at another (column).
import { h, setAttributes } from "../kit/dom.js";
import { amount } from "../kit/number.js";
import { captioned } from "../kit/readout.js";

/** @import { Matrix } from "../math/linear.js" */

const SIDE = 120;
const FULL = 1; // the entry drawn in full colour

export function createMatrix() {
  const cells = h("g");
  const svg = h(
    "svg",
    { viewBox: `0 0 ${SIDE} ${SIDE}`, class: "r1-matrix-map", role: "img" },
    cells,
  );
  const figure = captioned("Interference", svg, { className: "r1-interference" });
  figure.note("stored at a key (row), read at another (column)");
  let drawn = 0;

  /** @param {number} m */
  function lay(m) {
    if (m === drawn) return;
    drawn = m;
    const step = SIDE / m;
    const size = { width: step - 1, height: step - 1, rx: 1 };
    cells.replaceChildren(
      ...Array.from({ length: m * m }, (_, n) =>
        h("rect", { x: (n % m) * step + 0.5, y: Math.floor(n / m) * step + 0.5, ...size }),
      ),
    );
  }

  return {
    element: figure.element,
    /** @type {(matrix: Matrix | null, largest: number | null) => void} */
    show(matrix, largest) {
      lay(matrix?.length ?? 1);
      const values = matrix?.flat() ?? [0];
      [...cells.children].forEach((cell, n) => {
        const v = values[n];
        const strength = Number.isFinite(v) ? Math.min(1, Math.abs(v) / FULL) : 0;
        setAttributes(cell, {
          class: v < 0 ? "r1-distributed" : "r1-exact",
          "fill-opacity": strength.toFixed(3),
        });
      });
      svg.setAttribute(
        "aria-label",
        matrix
          ? `Interference: the largest entry off the diagonal is ${amount(largest, 2)}.`
          : "There is no X, and nothing is stored.",
      );
    },
  };
}

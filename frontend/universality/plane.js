// The plane of the two slots: the point that the step has written at x*, the rays on which it can lie, and the lines on
// which the readers switch.
import { h } from "../kit/dom.js";
import { count, figures } from "../kit/number.js";

/** @import { Point } from "../kit/handle.js" */
/** @import { Plane, Reader } from "./observe.js" */

const WIDE = 300; // the drawing's own units
const HIGH = 232;
/** @type {Point} */
const V0 = [-1, 13.6];
/** @type {Point} */
const V1 = [-1, 10.8];
const EDGE = { left: 26, right: 8, top: 8, bottom: 28 };
const MARKS = [0, 4, 8, 12];
const DRAWN = 24; // number of readers whose kinks are drawn: more lines cannot be distinguished

/** @type {(at: Point) => Point} */
const toPixel = ([v0, v1]) => [
  EDGE.left + ((v0 - V0[0]) / (V0[1] - V0[0])) * (WIDE - EDGE.left - EDGE.right),
  EDGE.top + ((V1[1] - v1) / (V1[1] - V1[0])) * (HIGH - EDGE.top - EDGE.bottom),
];

/** @type {(from: Point, to: Point) => string} */
const stroke = (from, to) => {
  const [[x1, y1], [x2, y2]] = [toPixel(from), toPixel(to)];
  return `M${x1.toFixed(1)} ${y1.toFixed(1)}L${x2.toFixed(1)} ${y2.toFixed(1)}`;
};

/**
 * The SVG path of a reader's kink: the line a₀v₀ + a₁v₁ + c = 0 between two edges of the drawing; empty if the line is
 * outside.
 *
 * @type {(reader: Reader) => string}
 */
function kinkOf({ a, c }) {
  /** @type {Point[]} */
  const ends = [];
  for (const v0 of V0) {
    const v1 = -(c + a[0] * v0) / a[1];
    if (v1 > V1[0] && v1 < V1[1]) ends.push([v0, v1]);
  }
  for (const v1 of V1) {
    const v0 = -(c + a[1] * v1) / a[0];
    if (v0 > V0[0] && v0 < V0[1]) ends.push([v0, v1]);
  }
  return ends.length > 1 ? stroke(ends[0], ends[1]) : "";
}

export function createPlane() {
  const rays = h("path", { class: "r1-rays" });
  const waiting = h("path", { class: "r1-kinks" });
  const active = h("path", { class: "r1-kinks r1-active" });
  const reach = h("path", { class: "r1-reach" });
  const trail = h("path", { class: "r1-trail" });
  const origin = h("circle", { class: "r1-origin-dot", r: 4 });
  const state = h("circle", { class: "r1-written", r: 6 });
  const svg = h(
    "svg",
    { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", class: "r1-slot-plane" },
    axes(),
    rays,
    waiting,
    active,
    reach,
    trail,
    origin,
    state,
    before(),
  );
  place(origin, [0, 0]);
  return {
    element: svg,
    /** @param {Plane} plane */
    show({ cells, ray, written, span, readers }) {
      const all = Array.from({ length: cells }, (_, s) => {
        const far = Math.min(V0[1], (V1[1] * cells) / s);
        return stroke([0, 0], [far, (far * s) / cells]);
      });
      rays.setAttribute("d", all.join(""));
      const some = readers.slice(0, DRAWN); // the first kinks are already spread evenly over the space of tasks
      const drawn = (/** @type {boolean} */ on) =>
        some.filter(({ isActive }) => isActive === on).map(kinkOf);
      waiting.setAttribute("d", drawn(false).join(""));
      active.setAttribute("d", drawn(true).join(""));
      const isWritten = written[0] !== 0;
      reach.setAttribute(
        "d",
        isWritten ? stroke([span[0], ray * span[0]], [span[1], ray * span[1]]) : "",
      );
      trail.setAttribute("d", stroke([0, 0], written));
      place(state, written);
      const [v0, v1] = written;
      svg.setAttribute(
        "aria-label",
        `Plane of the two slots: v₀ ${figures(v0)}, v₁ ${figures(v1)}, ${v0 === 0 ? "at the origin" : `on ray ${Math.round(ray * cells) + 1} of ${cells}`}`,
      );
    },
  };
}

/** @type {(dot: SVGElement, at: Point) => void} */
function place(dot, at) {
  const [cx, cy] = toPixel(at);
  dot.setAttribute("cx", cx.toFixed(1));
  dot.setAttribute("cy", cy.toFixed(1));
}

function before() {
  const [x, y] = toPixel([0, 0]);
  return h("text", { x: x + 8, y: y + 15, class: "r1-plane-note" }, "before the step");
}

function axes() {
  const [left, bottom] = [EDGE.left, HIGH - EDGE.bottom];
  const marks = MARKS.flatMap((v) => {
    const [x] = toPixel([v, 0]);
    const [, y] = toPixel([0, v]);
    const isOn = y > EDGE.top;
    return [
      h("text", { x, y: bottom + 13, class: "r1-tick r1-middle" }, String(v)),
      isOn ? h("text", { x: left - 5, y: y + 4, class: "r1-tick r1-end" }, String(v)) : null,
    ];
  });
  return h(
    "g",
    { class: "r1-slot-axes" },
    h("path", { d: `M${left} ${EDGE.top}V${bottom}H${WIDE - EDGE.right}` }),
    marks,
    h("text", { x: WIDE - EDGE.right, y: bottom + 26, class: "r1-axis-label r1-end" }, "v₀"),
    h("text", { x: left + 4, y: EDGE.top + 8, class: "r1-axis-label" }, "v₁"),
  );
}

/**
 * A description of the plane in words.
 *
 * @param {Plane} plane
 */
export function planeInWords({ cells, ray: slope, written, readers }) {
  const active = readers.filter(({ isActive }) => isActive).length;
  const place = `v₀ = ${figures(written[0])}, v₁ = ${figures(written[1])}`;
  const ray =
    written[0] === 0
      ? "the origin, on no single ray"
      : `a point on ray ${Math.round(slope * cells) + 1} of ${cells}`;
  return `Read at x*, the step wrote ${place}: ${ray}. ${active} of the ${count(readers.length)} readers are active there, and none at the origin. Lines: the kinks of ${DRAWN} readers, solid if active.`;
}

// A drawing of the profile g(x* − x), which the reader changes with the pointer, or knot by knot with the arrow keys.
import { h, setAttributes } from "../kit/dom.js";
import { pathOf } from "../kit/line.js";
import { bounded, fixed } from "../kit/number.js";
import { KNOTS } from "./math/targets.js";

/** @import { Point } from "../kit/handle.js" */

const SIZE = { width: 300, height: 110 };

/**
 * The drawing. `onChange` is called when a stroke ends, and after every key that changes the profile.
 *
 * @param {{ onChange(profile: number[]): void }} on
 */
export function createPencil({ onChange }) {
  const line = h("path", { class: "r1-line r1-exact" });
  const mark = h("circle", { class: "r1-dot r1-exact", r: 4 });
  const { width, height } = SIZE;
  const svg = h(
    "svg",
    {
      viewBox: `0 0 ${width} ${height}`,
      class: "r1-pencil",
      role: "slider",
      tabindex: 0,
      "aria-label": "Draw g: left and right choose a place, up and down change it",
      "aria-valuemin": -1,
      "aria-valuemax": 1,
      "data-name": "profile",
    },
    h("g", { class: "r1-axes" }, h("line", { x1: 0, x2: width, y1: height / 2, y2: height / 2 })),
    line,
    mark,
  );
  /** @type {number[]} */
  let profile = new Array(KNOTS).fill(0);
  let at = (KNOTS - 1) / 2;
  /** @type {Point | null} */
  let last = null;
  /** @param {number} i */
  const px = (i) => (i * width) / (KNOTS - 1);
  /** @param {number} v */
  const py = (v) => (height / 2) * (1 - v);

  function draw() {
    line.setAttribute("d", pathOf(profile.map((v, i) => [px(i), py(v)])));
    setAttributes(mark, { cx: px(at), cy: py(profile[at]) });
    const place = (2 * at) / (KNOTS - 1) - 1;
    setAttributes(svg, {
      "aria-valuenow": profile[at].toFixed(2),
      "aria-valuetext": `g(${fixed(place)}) = ${fixed(profile[at])}`,
    });
  }

  /** @param {PointerEvent} event */
  function stroke(event) {
    const box = svg.getBoundingClientRect();
    const i = Math.round(((event.clientX - box.left) / box.width) * (KNOTS - 1));
    /** @type {Point} */
    const here = [
      bounded(i, 0, KNOTS - 1),
      bounded(1 - (2 * (event.clientY - box.top)) / box.height, -1, 1),
    ];
    const [from, to] = [last ?? here, here];
    const count = Math.max(1, Math.abs(to[0] - from[0]));
    profile = [...profile];
    for (let k = 0; k <= count; k++) {
      const place = Math.round(from[0] + ((to[0] - from[0]) * k) / count);
      profile[place] = from[1] + ((to[1] - from[1]) * k) / count;
    }
    [last, at] = [here, here[0]];
    draw();
  }

  svg.addEventListener("pointerdown", (event) => {
    svg.setPointerCapture(event.pointerId);
    last = null;
    stroke(event);
  });
  svg.addEventListener("pointermove", (event) => {
    if (svg.hasPointerCapture(event.pointerId)) stroke(event);
  });
  svg.addEventListener("lostpointercapture", () => onChange(profile));
  svg.addEventListener("keydown", (event) => {
    const across = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const up = { ArrowUp: 0.1, ArrowDown: -0.1 }[event.key];
    if (across === undefined && up === undefined) return;
    event.preventDefault();
    if (across !== undefined) at = bounded(at + across, 0, KNOTS - 1);
    else {
      profile = profile.map((v, i) =>
        i === at ? Number(bounded(v + Number(up), -1, 1).toFixed(2)) : v,
      );
      onChange(profile);
    }
    draw();
  });
  return {
    element: h("figure", { class: "r1-plot" }, h("figcaption", {}, "Draw g on [−1, 1]"), svg),
    /** @param {number[]} next */
    show(next) {
      profile = [...next];
      draw();
    },
  };
}

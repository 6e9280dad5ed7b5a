// The drawing of a series: a line, with a dot where the cursor crosses it.
import { h, setAttributes } from "./dom.js";

/** @import { Pen } from "./chart.js" */
/** @import { Point } from "./handle.js" */

/** @type {Pen} */
export function line({ tone, dash, wide }) {
  const style = {
    class: `r1-line r1-${tone}${wide ? " r1-wide-line" : ""}`,
    "stroke-dasharray": dash ?? null,
  };
  const path = h("path", style);
  const spot = h("circle", { class: `r1-dot r1-${tone}`, r: 3 });
  return {
    parts: [path, spot],
    sample: h(
      "svg",
      { viewBox: "0 0 26 8", class: "r1-sample", "aria-hidden": "true" },
      h("line", { x1: 1, x2: 25, y1: 4, y2: 4, ...style }),
    ),
    draw(points, _, at) {
      path.setAttribute("d", pathOf(points));
      spot.style.display = at ? "" : "none";
      if (at) setAttributes(spot, { cx: at[0], cy: at[1] });
    },
  };
}

/**
 * A path through points in pixels, with a gap at each null. A point between two gaps is a short stroke.
 *
 * @param {(Point | null)[]} points
 */
export function pathOf(points) {
  let path = "";
  points.forEach((point, i) => {
    if (!point) return;
    const [begins, ends] = [points[i - 1], points[i + 1]].map((other) => !other);
    path += `${begins ? "M" : "L"}${point[0].toFixed(1)} ${point[1].toFixed(1)}`;
    if (begins && ends) path += "m-2 0h4";
  });
  return path;
}

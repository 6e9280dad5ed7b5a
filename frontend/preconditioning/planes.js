// The two rows of W, each a plane with its exact share of the loss: contours, paths, ends, and a start to drag.
import { h, setText } from "../kit/dom.js";
import { EDGE } from "./settings.js";

const SIZE = 320;
const SPAN = 3.6; // from −SPAN to SPAN along both axes
const FAR = 30; // what is farther out is not worth a coordinate
const LEVELS = Array.from({ length: 10 }, (_, k) => 4 ** (k - 6));
const DOTS = 40; // steps marked one by one
const STRIDE = 0.1; // of an arrow key

const KEY =
  "Contours of the loss, each 4 times the one inside; the cross is its minimum, a ring the place where a path ends if not there. Drag the white starts.";

const pixel = (v) => (SIZE * (Math.max(-FAR, Math.min(FAR, v)) + SPAN)) / (2 * SPAN);
const at = (a, b) => `${pixel(a).toFixed(1)} ${(SIZE - pixel(b)).toFixed(1)}`;
const reading = (v) => v.toFixed(2).replace("-", "−");

/** series: [{ key, tone, label, dash }] in drawing order; `onStart(row, [a, b], done)` moves the start. */
export function createPlanes(series, onStart) {
  const rows = [0, 1].map((row) => createPlane(row, series, (place) => onStart(row, place)));
  return {
    element: h(
      "div",
      { class: "r1-rows" },
      rows.map((plane) => plane.element),
      h("p", { class: "r1-muted r1-key" }, KEY),
    ),
    setGround: (problem, ends) => {
      for (const plane of rows) plane.setGround(problem, ends);
    },
    draw: (paths, step) => {
      for (const plane of rows) plane.draw(paths, step);
    },
  };
}

function createPlane(row, series, onStart) {
  const contours = h("g", { class: "r1-contours" });
  const axes = h("g", { class: "r1-row-axes" }, grid());
  const ends = h("g", { class: "r1-ends" });
  const marks = series.map(({ tone, key, dash }) => ({
    line: h("path", {
      class: `r1-path r1-path-${key} r1-${tone}`,
      "stroke-dasharray": dash ?? null,
    }),
    dots: h("path", { class: `r1-dots r1-path-${key} r1-${tone}` }),
    head: h("circle", { class: `r1-dot r1-${tone}`, r: key === "reparameterised" ? 6 : 4 }),
  }));
  const start = h(
    "g",
    {
      class: "r1-start",
      tabindex: 0,
      role: "application",
      "aria-roledescription": "point to drag",
    },
    h("circle", { r: 24, class: "r1-reach" }),
    h("circle", { r: 8 }),
  );
  const svg = h(
    "svg",
    { viewBox: `0 0 ${SIZE} ${SIZE}`, class: "r1-row", role: "group" },
    contours,
    axes,
  );
  for (const { line, dots } of marks) svg.append(line, dots);
  svg.append(...marks.map(({ head }) => head), ends, start);
  const name = row === 0 ? "First" : "Second";
  const note = h("span", { class: "r1-muted" });
  const caption = h("figcaption", {}, h("strong", {}, `${name} row of W`), " ", note);
  svg.setAttribute(
    "aria-label",
    `${name} row of W: its share of the loss as contours, with the paths`,
  );
  const held = dragged(svg, start, onStart);
  return {
    element: h("figure", { class: "r1-row-figure" }, svg, caption),
    setGround({ A, D, w0, wStar, rest, full }, limits) {
      const centre = [wStar[row], wStar[row + 2]];
      contours.replaceChildren(...ellipses(A, D[row][row], centre));
      held.place = [w0[row], w0[row + 2]];
      const [a, b] = held.place;
      start.setAttribute("transform", `translate(${pixel(a)} ${SIZE - pixel(b)})`);
      start.setAttribute(
        "aria-label",
        `Start of row ${row + 1}, at ${reading(a)}, ${reading(b)}. Arrow keys move it.`,
      );
      ends.replaceChildren(...endMarks(centre, limits, row));
      const off = Math.hypot(rest[row], rest[row + 2]);
      setText(
        note,
        full
          ? `loss curves ${D[row][row].toPrecision(2)} × A`
          : `${reading(off)} of the start is out of reach`,
      );
    },
    /** paths: { key: [w, …] } or null for one that is not shown; up to `step`. */
    draw(paths, step) {
      for (const [i, { key }] of series.entries()) drawPath(marks[i], paths[key], row, step);
    },
  };
}

function drawPath({ line, dots, head }, path, row, step) {
  const points = path ? path.slice(0, step + 1).map((w) => at(w[row], w[row + 2])) : [];
  line.setAttribute("d", points.length > 0 ? `M${points.join("L")}` : "");
  dots.setAttribute(
    "d",
    points
      .slice(0, DOTS)
      .map((p) => `M${p}h0`)
      .join(""),
  );
  head.style.display = points.length > 0 ? "" : "none";
  if (points.length === 0) return;
  const [x, y] = points.at(-1).split(" ");
  head.setAttribute("cx", x);
  head.setAttribute("cy", y);
}

/** Contours of ½ g dᵀ A d around `centre`: ellipses along A's axes. */
function ellipses([[a, b], [, d]], g, [x, y]) {
  const angle = Math.atan2(2 * b, a - d) / 2; // of the larger eigenvalue
  const half = Math.hypot((a - d) / 2, b);
  const [high, low] = [(a + d) / 2 + half, (a + d) / 2 - half];
  const unit = SIZE / (2 * SPAN);
  const turn = `rotate(${(-angle * 180) / Math.PI} ${pixel(x)} ${SIZE - pixel(y)})`;
  return LEVELS.toReversed().map((level) =>
    h("ellipse", {
      cx: pixel(x),
      cy: SIZE - pixel(y),
      rx: unit * Math.sqrt((2 * level) / (g * high)),
      ry: unit * Math.sqrt((2 * level) / (g * low)),
      transform: turn,
    }),
  );
}

function grid() {
  const whole = [-3, -2, -1, 0, 1, 2, 3];
  const lines = whole.flatMap((v) => [
    h("line", { x1: pixel(v), x2: pixel(v), y1: 0, y2: SIZE, class: v ? null : "r1-zero" }),
    h("line", { y1: pixel(v), y2: pixel(v), x1: 0, x2: SIZE, class: v ? null : "r1-zero" }),
  ]);
  const words = [-2, 2].flatMap((v) => [
    h("text", { x: pixel(v), y: SIZE - 5, "text-anchor": "middle" }, String(v).replace("-", "−")),
    h("text", { x: 5, y: SIZE - pixel(v) + 4 }, String(v).replace("-", "−")),
  ]);
  return [...lines, ...words];
}

/** A cross at the minimiser, and a ring where a path ends elsewhere. */
function endMarks([x, y], limits, row) {
  const [px, py] = [pixel(x), SIZE - pixel(y)];
  const cross = h("path", {
    class: "r1-minimiser",
    d: `M${px - 6} ${py}H${px + 6}M${px} ${py - 6}V${py + 6}`,
  });
  const rings = [
    ["reparameterised", "exact", 9],
    ["explicit", "distributed", 5],
  ].map(([key, tone, r]) => {
    const [a, b] = [limits[key][row], limits[key][row + 2]];
    const apart = Math.hypot(a - x, b - y) > 0.01;
    return apart
      ? h("circle", { class: `r1-end r1-${tone}`, cx: pixel(a), cy: SIZE - pixel(b), r })
      : null;
  });
  return [cross, ...rings.filter((ring) => ring)];
}

/** Lets the start be moved by pointer and by arrow keys; `place` is where it is. */
function dragged(svg, handle, onStart) {
  const held = { place: [0, 0] };
  let dragging = false;
  const inside = (v) => Number(Math.max(-EDGE, Math.min(EDGE, v)).toFixed(2));
  const track = (event) => {
    const box = svg.getBoundingClientRect();
    const share = (v, from, length) => ((v - from) / length - 0.5) * 2 * SPAN;
    onStart([
      inside(share(event.clientX, box.left, box.width)),
      inside(-share(event.clientY, box.top, box.height)),
    ]);
  };
  handle.addEventListener("pointerdown", (event) => {
    dragging = true;
    handle.setPointerCapture(event.pointerId);
  });
  handle.addEventListener("pointermove", (event) => dragging && track(event));
  for (const name of ["pointerup", "pointercancel"]) {
    handle.addEventListener(name, () => {
      dragging = false;
    });
  }
  const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  handle.addEventListener("keydown", (event) => {
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    event.stopPropagation();
    onStart(held.place.map((v, i) => inside(v + STRIDE * move[i])));
  });
  return held;
}

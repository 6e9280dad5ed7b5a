// The network over all x*, before and after the step, and the training pair and the probe as handles to drag.
import { h } from "../kit/dom.js";
import { GRID } from "./observe.js";
import { Y_RANGE } from "./settings.js";

const SIZE = { width: 560, height: 300, left: 40, right: 12, top: 10, bottom: 40 };
const RANGE = [-2.7, 1.8];
const STEP = 0.02;
const LINES = [
  { key: "wanted", label: "target f(x, y, x*)", tone: "exact", dash: "5 4" },
  { key: "table", label: "its table", tone: "law", wide: true },
  { key: "before", label: "before the step", tone: "printed" },
  { key: "after", label: "after the step", tone: "distributed" },
];
const ARROWS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const clamp = (v, [low, high]) => Math.min(high, Math.max(low, v));

/** createCurve({ onPair(x, y), onProbe(x) }). */
export function createCurve({ onPair, onProbe }) {
  const { width, height, left, right, top, bottom } = SIZE;
  const px = (x) => left + (width - left - right) * x;
  const py = (y) =>
    height - bottom - ((height - bottom - top) * (y - RANGE[0])) / (RANGE[1] - RANGE[0]);
  const paths = LINES.map(({ tone, dash, wide }) =>
    h("path", {
      class: `r1-line r1-${tone}${wide ? " r1-wide-line" : ""}`,
      "stroke-dasharray": dash ?? null,
    }),
  );
  const probeLine = h("line", { class: "r1-cursor", y1: top, y2: height - bottom });
  const picture = h("g", { role: "img" }, axes(px, py), paths, probeLine);
  const svg = h(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "The network over x*" },
    picture,
  );
  const pair = grip(svg, {
    tone: "distributed",
    name: "Training pair: x across, y up",
    move: onPair,
  });
  const probe = grip(svg, { tone: "ink", name: "Where to look: x*", move: (x) => onProbe(x) });
  svg.append(
    h(
      "text",
      { x: px(0.5), y: height - 4, class: "r1-axis-label" },
      "x* (and x of the training pair)",
    ),
    pair.element,
    probe.element,
  );
  const legend = LINES.map(({ label, tone, dash, wide }) =>
    h("li", {}, sample(tone, dash, wide), h("span", {}, label)),
  );

  function grip(frame, { tone, name, move }) {
    const dot = h("circle", { class: "r1-grip-dot", r: 7 });
    const element = h(
      "g",
      {
        role: "slider",
        tabindex: 0,
        class: `r1-grip r1-${tone}`,
        "aria-label": name,
        "aria-valuemin": 0,
        "aria-valuemax": 1,
      },
      h("circle", { r: 17, class: "r1-hit" }),
      dot,
    );
    const held = { element, at: [0, 0] };
    const to = (x, y) => move(clamp(x, [0, 1]), clamp(y, Y_RANGE));
    element.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      element.focus();
      element.setPointerCapture(event.pointerId);
    });
    element.addEventListener("pointermove", (event) => {
      if (!element.hasPointerCapture(event.pointerId)) return;
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(
        frame.getScreenCTM().inverse(),
      );
      const share = (height - bottom - at.y) / (height - bottom - top);
      to((at.x - left) / (width - left - right), RANGE[0] + share * (RANGE[1] - RANGE[0]));
    });
    element.addEventListener("keydown", (event) => {
      const arrow = ARROWS[event.key];
      if (!arrow) return;
      const by = event.shiftKey ? 5 * STEP : STEP;
      event.preventDefault();
      to(round(held.at[0] + by * arrow[0]), round(held.at[1] + 2 * by * arrow[1]));
    });
    held.place = (x, y, words, at = [x, y]) => {
      held.at = at;
      element.setAttribute("transform", `translate(${px(x).toFixed(1)} ${py(y).toFixed(1)})`);
      element.setAttribute("aria-valuenow", x.toFixed(3));
      element.setAttribute("aria-valuetext", words);
    };
    return held;
  }

  return {
    element: h(
      "figure",
      { class: "r1-plot r1-curve" },
      svg,
      h("ul", { class: "r1-legend" }, legend),
    ),
    show(seen, { x, y, probe: at }, words) {
      LINES.forEach(({ key }, i) => {
        paths[i].setAttribute("d", seen[key] ? pathOf(seen[key], px, py) : "");
        legend[i].hidden = !seen[key];
      });
      picture.setAttribute("aria-label", words);
      probeLine.setAttribute("x1", px(at));
      probeLine.setAttribute("x2", px(at));
      pair.place(x, y, `x ${x.toFixed(2)}, y ${y.toFixed(2)}`.replaceAll("-", "−"));
      probe.place(at, RANGE[0], `x* ${at.toFixed(2)}`);
    },
  };
}

const round = (v) => Number(v.toFixed(4));

function pathOf(values, px, py) {
  const shown = (v) => py(Math.min(Math.max(v, -50), 50)).toFixed(1);
  return `M${values.map((v, i) => `${px(GRID[i]).toFixed(1)} ${shown(v)}`).join("L")}`;
}

function axes(px, py) {
  const across = [-2, -1, 0, 1].flatMap((v) => [
    h("line", { x1: px(0), x2: px(1), y1: py(v), y2: py(v) }),
    h("text", { x: px(0) - 6, y: py(v) + 4, "text-anchor": "end" }, String(v).replace("-", "−")),
  ]);
  const along = [0, 0.25, 0.5, 0.75, 1].map((v) =>
    h("text", { x: px(v), y: py(RANGE[0]) + 20, "text-anchor": "middle" }, String(v)),
  );
  return h("g", { class: "r1-axes" }, across, along);
}

const sample = (tone, dash, wide) =>
  h(
    "svg",
    { viewBox: "0 0 26 8", class: "r1-sample", "aria-hidden": "true" },
    h("line", {
      x1: 1,
      x2: 25,
      y1: 4,
      y2: 4,
      class: `r1-line r1-${tone}${wide ? " r1-wide-line" : ""}`,
      "stroke-dasharray": dash ?? null,
    }),
  );

// The levels of the machine: what each draws of a look, and the button in it that leads to the next.
import { chart } from "../kit/chart.js";
import { h, setText } from "../kit/dom.js";
import { picture } from "../kit/imagewell.js";
import { count, figures, fixed } from "../kit/number.js";

/** @import { Look } from "./machinestates.js" */
/** @import { Context } from "./machinewords.js" */

/** @typedef {{ element: HTMLElement, door: HTMLButtonElement, draw(look: Look, context: Context): void }} Level */

const SIDE = 32; // pixels, until a picture comes
const TURN = 2 * Math.PI;

/** @type {(inner: () => void, label: string) => HTMLButtonElement} */
const door = (inner, label) =>
  h("button", { type: "button", class: "r1-button r1-door", onclick: () => inner() }, label);

/** A picture with its name. @param {string} name */
function captioned(name) {
  const { canvas, show } = picture({ label: name, size: SIDE });
  return { element: h("figure", {}, canvas, h("figcaption", {}, name)), show };
}

/** @param {string} text */
const sign = (text) => h("span", { class: "r1-sign", "aria-hidden": "true" }, text);

/** @type {(className: string, ...children: import("../kit/dom.js").Child[]) => HTMLElement} */
const levelOf = (className, ...children) => h("div", { class: `r1-level ${className}` }, children);

/**
 * The state, the weights of the frequency, and their product.
 *
 * @type {(inner: () => void) => Level}
 */
function frequencyLevel(inner) {
  const [state, weights, products] = ["state", "weights", "products"].map(captioned);
  const into = door(inner, "");
  return {
    element: levelOf(
      "r1-row",
      [state.element, sign("×"), weights.element, sign("="), products.element],
      into,
    ),
    door: into,
    draw(look) {
      state.show(look.state);
      weights.show(look.weights);
      products.show(look.products);
      setText(into, `Phase ${fixed(look.phase)}: its waves`);
    },
  };
}

/** @type {(angle: number, radius: number) => { cx: number, cy: number }} */
const onCircle = (angle, radius) => ({
  cx: 60 + radius * Math.cos(angle),
  cy: 60 - radius * Math.sin(angle),
});

/**
 * The phase on a circle, with its way through the run, and on the two waves.
 *
 * @type {(inner: () => void) => Level}
 */
function waveLevel(inner) {
  const circle = h("svg", { viewBox: "0 0 120 120", role: "img" });
  const waves = h("svg", { viewBox: "0 0 320 120", role: "img" });
  const into = door(inner, "");

  /** @param {Look} look */
  function drawCircle({ phase, phases, trail }) {
    const at = onCircle(phase, 46);
    circle.setAttribute(
      "aria-label",
      `The phase on a circle: cosine ${fixed(Math.cos(phase))}, sine ${fixed(Math.sin(phase))}`,
    );
    circle.replaceChildren(
      h("circle", { cx: 60, cy: 60, r: 46, class: "r1-ring" }),
      h("line", { x1: 8, x2: 112, y1: 60, y2: 60, class: "r1-thin" }),
      h("line", { x1: 60, x2: 60, y1: 8, y2: 112, class: "r1-thin" }),
      ...Array.from(phases, (p) =>
        h("circle", { ...onCircle(p, 46), r: 2.2, class: "r1-of-stored" }),
      ),
      ...trail.map((p) => h("circle", { ...onCircle(p, 40), r: 1.2, class: "r1-of-trail" })),
      h("line", { x1: 60, y1: 60, x2: at.cx, y2: at.cy, class: "r1-line r1-distributed" }),
      h("line", { x1: at.cx, y1: at.cy, x2: at.cx, y2: 60, class: "r1-drop" }),
      h("line", { x1: at.cx, y1: at.cy, x2: 60, y2: at.cy, class: "r1-drop" }),
      h("circle", { ...at, r: 4, class: "r1-dot r1-distributed" }),
    );
  }

  /** @param {Look} look */
  function drawWaves({ phase, phases }) {
    const all = [phase, ...phases];
    const [low, high] = [Math.min(...all) - TURN / 4, Math.max(...all) + TURN / 4];
    /** @param {number} p */
    const across = (p) => 6 + (308 * (p - low)) / (high - low);
    const steps = Array.from({ length: 161 }, (_, i) => low + ((high - low) * i) / 160);
    /** @type {(f: (p: number) => number, middle: number) => string} */
    const path = (f, middle) =>
      steps
        .map((p, i) => `${i ? "L" : "M"}${across(p).toFixed(1)} ${(middle - 20 * f(p)).toFixed(1)}`)
        .join("");
    waves.setAttribute("aria-label", `Cosine and sine over the phase, now ${fixed(phase)}`);
    waves.replaceChildren(
      ...[
        { f: Math.cos, middle: 34, name: "cosine" },
        { f: Math.sin, middle: 90, name: "sine" },
      ].flatMap(({ f, middle, name }) => [
        h("line", { x1: 6, x2: 314, y1: middle, y2: middle, class: "r1-thin" }),
        h("path", { d: path(f, middle), class: "r1-wave" }),
        ...Array.from(phases, (p) =>
          h("circle", { cx: across(p), cy: middle - 20 * f(p), r: 2.2, class: "r1-of-stored" }),
        ),
        h("line", {
          ...{ x1: across(phase), x2: across(phase), y1: middle, y2: middle - 20 * f(phase) },
          class: "r1-line r1-distributed",
        }),
        h("circle", {
          ...{ cx: across(phase), cy: middle - 20 * f(phase), r: 4 },
          class: "r1-dot r1-distributed",
        }),
        h("text", { x: 314, y: middle - 24, "text-anchor": "end" }, name),
      ]),
    );
  }

  return {
    element: levelOf("r1-waves", circle, waves, into),
    door: into,
    draw(look) {
      drawCircle(look);
      drawWaves(look);
      setText(
        into,
        `${fixed(Math.cos(look.phase))} and ${fixed(Math.sin(look.phase))}: what T holds here`,
      );
    },
  };
}

/** @type {(thumbnail: (id: string, values: Float32Array) => string) => (inner: () => void) => Level} */
const entryLevel = (thumbnail) => (inner) => {
  const [WIDE, ROW, FOOT] = [520, 74, 28];
  const MOST = 40; // bars that have room for a thumbnail
  const svg = h("svg", { viewBox: `0 0 ${WIDE} ${2 * ROW + FOOT}`, role: "img" });
  const into = door(inner, "");

  /** @type {(look: Look, context: Context) => void} */
  function drawBars({ phase, phases, entry }, { ids, patterns, labels, K }) {
    const [left, total] = [44, 56];
    const step = (WIDE - left - total - 12) / K;
    const width = Math.max(0.6, Math.min(22, step - 2));
    const rows = /** @type {const} */ ([
      ["cosine", Math.cos, entry.cos],
      ["sine", Math.sin, entry.sin],
    ]);
    /** @type {Element[]} */
    const parts = [];
    rows.forEach(([name, f, sum], row) => {
      const middle = ROW * (row + 0.5);
      const unit = (ROW / 2 - 6) / Math.max(1, Math.abs(sum));
      /** @type {(x: number, value: number, wide: number, kind: string, title: string) => void} */
      const bar = (x, value, wide, kind, title) => {
        const size = { width: wide, height: Math.max(0.5, unit * Math.abs(value)) };
        const y = middle - unit * Math.max(0, value);
        const rect = h("rect", { x: x - wide / 2, y, ...size, class: kind });
        rect.append(titled(title));
        parts.push(rect);
      };
      const own = middle - unit * f(phase);
      parts.push(
        h("text", { x: left - 6, y: middle + 4, "text-anchor": "end" }, name),
        h("line", { x1: left, x2: WIDE, y1: middle, y2: middle, class: "r1-thin" }),
        h("line", { x1: left, x2: WIDE - total - 8, y1: own, y2: own, class: "r1-own-value" }),
      );
      phases.forEach((p, m) => {
        bar(left + step * (m + 0.5), f(p), width, "r1-term", `${labels[m]}: ${fixed(f(p))}`);
      });
      const at = WIDE - total / 2;
      bar(at, sum, 30, "r1-sum", `sum: ${fixed(sum)}`);
      const above = sum >= 0 ? middle + 12 : middle - 4;
      parts.push(h("text", { x: at, y: above, "text-anchor": "middle" }, fixed(sum)));
    });
    if (K <= MOST)
      patterns.forEach((values, m) => {
        const side = Math.min(FOOT - 4, step - 1);
        parts.push(
          h("image", {
            ...{ x: left + step * (m + 0.5) - side / 2, y: 2 * ROW + 2, width: side, height: side },
            href: thumbnail(ids[m], values),
          }),
        );
      });
    parts.push(h("text", { x: WIDE - total / 2, y: 2 * ROW + 16, "text-anchor": "middle" }, "sum"));
    svg.setAttribute(
      "aria-label",
      `Cosine and sine of ${count(K)} stored pictures; sums ${fixed(entry.cos)} and ${fixed(entry.sin)}`,
    );
    svg.replaceChildren(...parts);
  }

  return {
    element: levelOf("r1-entry", svg, into),
    door: into,
    draw(look, context) {
      drawBars(look, context);
      setText(into, `${fixed(look.entry.cos)} and ${fixed(look.entry.sin)}: with all frequencies`);
    },
  };
};

/** @param {string} text */
function titled(text) {
  const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
  title.textContent = text;
  return title;
}

/**
 * Ŝ from more and more frequencies, and its slope.
 *
 * @type {(inner: () => void) => Level}
 */
function sumLevel(inner) {
  const { element, draw } = chart({
    title: "Ŝ from the first frequencies",
    caption: false,
    x: { label: "frequencies read", scale: "log" },
    y: { label: "Ŝ" },
    frame: { width: 350, height: 150, left: 42 },
    series: [
      { key: "estimate", label: "vector, Ŝ", tone: "distributed" },
      { key: "exact", label: "list, S", tone: "exact", dash: "5 3" },
    ],
  });
  const slope = captioned("slope of log Ŝ");
  const into = door(inner, "One step");
  return {
    element: levelOf("r1-sum-level", element, h("div", {}, slope.element, into)),
    door: into,
    draw({ running, exact, S, slope: bytes }, { Y, K }) {
      /** @type {[number, number][]} */
      const estimate = [];
      for (let i = 0; i < running.length; i += 2) estimate.push([running[i], running[i + 1]]);
      const top = Math.max(1.5, exact, S) * 1.2;
      draw({
        lines: {
          estimate,
          exact: [
            [1, exact],
            [Y, exact],
          ],
        },
        x: [1, Y],
        y: [-Math.min(K, top), top],
        summary: `From all ${count(Y)} frequencies Ŝ is ${figures(S)}; the list gives ${figures(exact)}.`,
      });
      slope.show(bytes);
    },
  };
}

/**
 * The state, the step, and the next state.
 *
 * @type {(take: () => void) => Level}
 */
function stepLevel(take) {
  const [state, slope, next] = ["state", "step, enlarged", "next state"].map(captioned);
  const into = door(take, "Take this step");
  return {
    element: levelOf(
      "r1-row",
      [state.element, sign("+"), slope.element, sign("="), next.element],
      into,
    ),
    door: into,
    draw(look) {
      state.show(look.state);
      slope.show(look.slope);
      next.show(look.next);
      into.disabled = look.atRest;
    },
  };
}

/**
 * All levels from the outside in. `inner()` leads one level in, `take()` takes the step.
 *
 * @param {{ inner(): void, take(): void }} on
 * @returns {Level[]}
 */
export function createLevels({ inner, take }) {
  /** @type {Map<string, string>} */
  const addresses = new Map();
  const { canvas, show } = picture({ label: "", size: SIDE });
  /** @type {(id: string, values: Float32Array) => string} */
  const thumbnail = (id, values) => {
    const known = addresses.get(id);
    if (known) return known;
    const side = Math.ceil(Math.sqrt(values.length / 3));
    const bits = 3 * side * side !== values.length;
    const n = bits ? 3 * values.length : values.length;
    const unit = 255 * Math.sqrt(values.length);
    show(Uint8Array.from({ length: n }, (_, i) => unit * values[bits ? Math.floor(i / 3) : i]));
    const address = canvas.toDataURL();
    addresses.set(id, address);
    return address;
  };
  return [
    frequencyLevel(inner),
    waveLevel(inner),
    entryLevel(thumbnail)(inner),
    sumLevel(inner),
    stepLevel(take),
  ];
}

// The levels of the machine: what each draws of a look, and the button in it that leads to the next.
import { chart } from "../kit/chart.js";
import { h, setText } from "../kit/dom.js";
import { picture } from "../kit/imagewell.js";
import { bounded, count, figures, fixed } from "../kit/number.js";

/** @import { Look } from "./machinestates.js" */
/** @import { Context } from "./machinewords.js" */

/** @typedef {{ element: HTMLElement, door: HTMLButtonElement, draw(look: Look, context: Context): void }} Level */

const SIDE = 32; // pixels, until a picture comes
const TURN = 2 * Math.PI;
const FEW = 10; // frequencies: what fewer of them give leaves the chart

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

  /**
   * Each picture's term begins where the last one ended, so that the terms add up before the eyes.
   *
   * @type {(look: Look, context: Context) => void}
   */
  function drawBars({ phases, entry }, { ids, patterns, labels, K }) {
    const [left, total] = [60, 56];
    const step = (WIDE - left - total - 12) / K;
    const width = Math.max(0.6, Math.min(22, step - 2));
    /** @type {Element[]} */
    const parts = [];
    /** @type {(x: number, ends: [number, number], wide: number, kind: string, words: string) => void} */
    const bar = (x, [from, to], wide, kind, words) => {
      const size = { width: wide, height: Math.max(0.7, Math.abs(from - to)) };
      const rect = h("rect", { x: x - wide / 2, y: Math.min(from, to), ...size, class: kind });
      rect.append(titled(words));
      parts.push(rect);
    };
    [
      { name: "cosine", terms: Array.from(phases, Math.cos), sum: entry.cos },
      { name: "sine", terms: Array.from(phases, Math.sin), sum: entry.sin },
    ].forEach(({ name, terms, sum }, row) => {
      const sums = [0];
      for (const term of terms) sums.push((sums.at(-1) ?? 0) + term);
      const [low, high] = [Math.min(-0.5, ...sums), Math.max(0.5, ...sums)];
      /** @param {number} v */
      const up = (v) => ROW * row + 5 + ((ROW - 18) * (high - v)) / (high - low);
      parts.push(
        h("text", { x: left - 6, y: up(0) + 4, "text-anchor": "end" }, name),
        h("line", { x1: left, x2: WIDE, y1: up(0), y2: up(0), class: "r1-thin" }),
      );
      terms.forEach((term, m) => {
        const ends = /** @type {[number, number]} */ ([up(sums[m]), up(sums[m + 1])]);
        bar(left + step * (m + 0.5), ends, width, "r1-term", `${labels[m]}: ${fixed(term)}`);
      });
      const at = WIDE - total / 2;
      bar(at, [up(0), up(sum)], 26, "r1-sum", `sum: ${fixed(sum)}`);
      const y = Math.max(up(0), up(sum)) + 12;
      parts.push(h("text", { x: at, y, "text-anchor": "middle" }, fixed(sum)));
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
    draw({ running, exact, S, slope: bytes }, { Y }) {
      /** @type {[number, number][]} */
      const estimate = [];
      for (let i = 0; i < running.length; i += 2) estimate.push([running[i], running[i + 1]]);
      const settled = estimate.filter(([n]) => n >= FEW).map(([, v]) => v);
      const [low, high] = [Math.min(0, ...settled), 1.15 * Math.max(exact, S, ...settled)];
      draw({
        lines: {
          estimate: estimate.map(([n, v]) => [n, bounded(v, low, high)]),
          exact: [
            [1, exact],
            [Y, exact],
          ],
        },
        x: [1, Y],
        y: [low, high],
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

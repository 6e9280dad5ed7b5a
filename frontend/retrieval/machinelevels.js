// The levels of the machine: what each draws of a look, the line under it, and the button in it that leads to the next.
import { chart } from "../kit/chart.js";
import { h, setText } from "../kit/dom.js";
import { picture } from "../kit/imagewell.js";
import { count, figures, fixed } from "../kit/number.js";
import { enlarged, followed, formulaOf, partOf, SECTIONS, scaleOf } from "./machinewords.js";
import { follow, light } from "./pointing.js";

/** @import { Look } from "./machinestates.js" */
/** @import { Context } from "./machinewords.js" */

/**
 * One level of the opened machine; its button `door` leads to the next.
 *
 * @typedef {{
 *   element: HTMLElement,
 *   door: HTMLButtonElement,
 *   draw(look: Look, context: Context): void,
 *   enter?(): void,
 * }} Level
 */

const SIDE = 32; // pixels, before the first picture comes
const TURN = 2 * Math.PI;
const DRAWN = 1000; // milliseconds in which a curve is drawn
const ROOM = 0.06; // of the curve's height, above and below it

/** Text with its symbols in italics. @param {string} text */
export const italic = (text) => text.split("*").map((part, i) => (i % 2 ? h("i", {}, part) : part));

/**
 * The foot of a level: its formula, or words on the part that the reader points at; on a page of the book, a link to
 * the derivation; and the button that leads on.
 *
 * @type {(level: number, act: () => void, label: string) => { element: HTMLElement, door: HTMLButtonElement, draw(look: Look, context: Context): void, tell(text: string | null): void }}
 */
function footOf(level, act, label) {
  const line = h("p", { class: "r1-formula" });
  const door = h("button", { type: "button", class: "r1-button r1-door", onclick: () => act() });
  const root = document.documentElement.dataset.content_root;
  const [place, heading] = SECTIONS[level];
  const link = h("a", { href: `${root}book/chapters/${place}` }, heading);
  let formula = "";
  let description = /** @type {string | null} */ (null);
  setText(door, label);
  const write = () => line.replaceChildren(...italic(description ?? formula));
  return {
    element: h(
      "div",
      { class: "r1-foot" },
      line,
      h("p", { class: "r1-muted" }, ...(root === undefined ? [] : ["Derived in ", link])),
      door,
    ),
    door,
    draw(look, context) {
      formula = formulaOf(level, look, context);
      write();
    },
    tell(text) {
      description = text;
      line.setAttribute("aria-live", text === null ? "off" : "polite");
      write();
    },
  };
}

/** A picture with its name, and the scale of its grey values. @param {string} name */
function captioned(name) {
  const { canvas, show } = picture({ label: name, size: SIDE });
  const frame = h("div", { class: "r1-paintable" }, canvas);
  const scale = h("small");
  const element = h("figure", {}, frame, h("figcaption", {}, name, scale));
  /** @type {(bytes: Uint8ClampedArray, words?: string) => void} */
  const showAll = (bytes, words = "black 0, white 1") => {
    show(bytes);
    setText(scale, words);
  };
  return { element, frame, canvas, show: showAll };
}

/** @param {string} text */
const sign = (text) => h("span", { class: "r1-sign", "aria-hidden": "true" }, text);

/** @type {(className: string, ...children: import("../kit/dom.js").Child[]) => HTMLElement} */
const levelOf = (className, ...children) => h("div", { class: `r1-level ${className}` }, children);

/**
 * Three pictures joined by an operation. The reader can follow one number: `numbersOf(look, i)` is the i-th of each.
 *
 * @type {(names: string[], operation: "×" | "+", foot: ReturnType<typeof footOf>, numbersOf: (look: Look, i: number) => [number, number, number]) => {
 *   element: HTMLElement, pictures: ReturnType<typeof captioned>[], draw(look: Look, context: Context): void,
 * }}
 */
function rowOf(names, operation, foot, numbersOf) {
  const pictures = names.map(captioned);
  const [a, b, c] = pictures.map(({ element }) => element);
  const row = h("div", { class: "r1-row" }, a, sign(operation), b, sign("="), c);
  /** @type {import("../kit/imagewell.js").Cell | null} */
  let at = null;
  /** @type {[Look, Context] | null} */
  let shown = null;
  function tell() {
    if (!at || !shown) return foot.tell(null);
    const [look, { D, bits }] = shown;
    const channels = bits ? 1 : 3;
    const i = channels * (at[0] * Math.sqrt(D / channels) + at[1]);
    foot.tell(followed(at, numbersOf(look, i), operation, bits));
  }
  follow(row, pictures, `${names.join(", ")}: arrow keys follow one pixel`, (cell) => {
    at = cell;
    tell();
  });
  return {
    element: levelOf("r1-of-row", row, foot.element),
    pictures,
    draw(look, context) {
      shown = [look, context];
      foot.draw(look, context);
      tell();
    },
  };
}

/**
 * The state, the weights of the frequency, and their product.
 *
 * @type {(inner: () => void) => Level}
 */
function frequencyLevel(inner) {
  const foot = footOf(0, inner, "Its waves");
  const row = rowOf(["state", "weights", "products"], "×", foot, ({ numbers }, i) => {
    const [pixel, weight] = [numbers.state[i], numbers.weights[i]];
    return [pixel, weight, pixel * weight];
  });
  const [state, weights, products] = row.pictures;
  return {
    element: row.element,
    door: foot.door,
    draw(look, context) {
      state.show(look.state);
      weights.show(look.weights.bytes, scaleOf(look.weights.top));
      products.show(look.products.bytes, scaleOf(look.products.top));
      row.draw(look, context);
    },
  };
}

/** @type {(angle: number, radius: number) => { cx: number, cy: number }} */
const onCircle = (angle, radius) => ({
  cx: 60 + radius * Math.cos(angle),
  cy: 60 - radius * Math.sin(angle),
});

/**
 * The phase on a circle, with those of earlier steps, and on the two waves.
 *
 * @type {(inner: () => void) => Level}
 */
function waveLevel(inner) {
  const circle = h("svg", { viewBox: "0 0 120 120", role: "img" });
  const waves = h("svg", { viewBox: "0 0 320 120", role: "img" });
  const foot = footOf(1, inner, "What T holds");
  const both = h("div", { class: "r1-both" }, circle, waves);
  const relight = named(both, foot);

  /** A stored picture's dot; the true picture's has a ring. @type {(m: number, isTrue: boolean) => object} */
  const dotOf = (m, isTrue) => ({
    r: isTrue ? 3.4 : 2.6,
    class: isTrue ? "r1-of-stored r1-true" : "r1-of-stored",
    "data-m": m,
  });

  /** @type {(look: Look, target: number) => void} */
  function drawCircle({ phase, phases, trail }, target) {
    const at = onCircle(phase, 46);
    circle.setAttribute(
      "aria-label",
      `The phase on a circle: cosine ${fixed(Math.cos(phase))}, sine ${fixed(Math.sin(phase))}`,
    );
    circle.replaceChildren(
      h("circle", { cx: 60, cy: 60, r: 46, class: "r1-ring" }),
      h("line", { x1: 8, x2: 112, y1: 60, y2: 60, class: "r1-thin" }),
      h("line", { x1: 60, x2: 60, y1: 8, y2: 112, class: "r1-thin" }),
      ...Array.from(phases, (p, m) =>
        h("circle", { ...onCircle(p, 46), ...dotOf(m, m === target) }),
      ),
      ...trail.map((p) => h("circle", { ...onCircle(p, 40), r: 1.2, class: "r1-of-trail" })),
      h("line", { x1: 60, y1: 60, x2: at.cx, y2: at.cy, class: "r1-line r1-distributed" }),
      h("line", { x1: at.cx, y1: at.cy, x2: at.cx, y2: 60, class: "r1-drop" }),
      h("line", { x1: at.cx, y1: at.cy, x2: 60, y2: at.cy, class: "r1-drop" }),
      h("circle", { ...at, r: 4, class: "r1-dot r1-distributed" }),
    );
  }

  /** @type {(look: Look, target: number) => void} */
  function drawWaves({ phase, phases }, target) {
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
        { f: Math.cos, middle: 36, name: "cosine" },
        { f: Math.sin, middle: 96, name: "sine" },
      ].flatMap(({ f, middle, name }) => [
        h("line", { x1: 6, x2: 314, y1: middle, y2: middle, class: "r1-thin" }),
        h("path", { d: path(f, middle), class: "r1-wave" }),
        ...Array.from(phases, (p, m) => {
          const at = { cx: across(p), cy: middle - 20 * f(p) };
          return h("circle", { ...at, ...dotOf(m, m === target) });
        }),
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
    element: levelOf("r1-waves", both, foot.element),
    door: foot.door,
    draw(look, context) {
      drawCircle(look, context.target);
      drawWaves(look, context.target);
      foot.draw(look, context);
      relight(look, context);
    },
  };
}

/**
 * Names the stored picture whose part of a drawing is pointed at. Returns a function to call after each new drawing.
 *
 * @type {(element: HTMLElement, foot: ReturnType<typeof footOf>) => (look: Look, context: Context) => void}
 */
function named(element, foot) {
  let phases = new Float64Array(0);
  /** @type {string[]} */
  let labels = [];
  const again = light(
    element,
    "Stored pictures: arrow keys name one after another",
    () => labels.length,
    (m) => foot.tell(m === null ? null : partOf(labels[m], phases[m])),
  );
  return (look, context) => {
    phases = look.phases;
    labels = context.labels;
    again();
  };
}

/** @typedef {(id: string, values: Float32Array, bits: boolean) => string} Thumbnail */

/** @type {(thumbnail: Thumbnail) => (inner: () => void) => Level} */
const entryLevel = (thumbnail) => (inner) => {
  const [WIDE, ROW, FOOT] = [450, 58, 24];
  const MOST = 40; // bars, up to which each has room for a thumbnail
  const svg = h("svg", { viewBox: `0 0 ${WIDE} ${2 * ROW + FOOT}`, role: "img" });
  const both = h("div", { class: "r1-both" }, svg);
  const foot = footOf(2, inner, "Reading T");
  const relight = named(both, foot);

  /**
   * Each picture's bar begins where the bar before it ended, so that the reader sees the terms add up.
   *
   * @type {(look: Look, context: Context) => void}
   */
  function drawBars({ phases, entry }, { ids, patterns, bits, K }) {
    const [left, total] = [58, 78];
    const step = (WIDE - left - total - 14) / K;
    const width = Math.max(0.6, Math.min(22, step - 2));
    const sumAt = WIDE - total + 13;
    const equalsAt = sumAt - 20; // between the last term and the sum
    /** @type {(x: number, ends: [number, number], wide: number, more: object) => Element} */
    const bar = (x, [from, to], wide, more) => {
      const size = { width: wide, height: Math.max(0.7, Math.abs(from - to)) };
      return h("rect", { x: x - wide / 2, y: Math.min(from, to), ...size, ...more });
    };
    const rows = [
      { name: "cosine", terms: Array.from(phases, Math.cos), sum: entry.cos },
      { name: "sine", terms: Array.from(phases, Math.sin), sum: entry.sin },
    ].map(({ name, terms, sum }, row) => {
      const sums = [0];
      for (const term of terms) sums.push((sums.at(-1) ?? 0) + term);
      const [low, high] = [Math.min(-0.5, ...sums), Math.max(0.5, ...sums)];
      /** @param {number} v */
      const up = (v) => ROW * row + 5 + ((ROW - 10) * (high - v)) / (high - low);
      const middle = (up(0) + up(sum)) / 2 + 4;
      return [
        h("text", { x: left - 6, y: up(0) + 4, "text-anchor": "end" }, name),
        h("line", { x1: left, x2: sumAt + 15, y1: up(0), y2: up(0), class: "r1-thin" }),
        ...terms.slice(1).map((_, m) => {
          const [x, y] = [left + step * (m + 0.5), up(sums[m + 1])];
          return h("line", { x1: x, x2: x + step, y1: y, y2: y, class: "r1-join" });
        }),
        ...terms.map((_, m) => {
          const ends = /** @type {[number, number]} */ ([up(sums[m]), up(sums[m + 1])]);
          return bar(left + step * (m + 0.5), ends, width, { class: "r1-term", "data-m": m });
        }),
        h("text", { x: equalsAt, y: middle, "text-anchor": "middle" }, "="),
        bar(sumAt, [up(0), up(sum)], 26, { class: "r1-sum" }),
        h("text", { x: sumAt + 18, y: middle }, fixed(sum)),
      ];
    });
    const side = Math.min(FOOT - 4, step - 1);
    const small = patterns.slice(0, K <= MOST ? K : 0).map((values, m) => {
      const corner = { x: left + step * (m + 0.5) - side / 2, y: 2 * ROW + 3 };
      const size = { width: side, height: side };
      return h("image", { ...corner, ...size, href: thumbnail(ids[m], values, bits), "data-m": m });
    });
    const columns = patterns.map((_, m) =>
      bar(left + step * (m + 0.5), [0, 2 * ROW + FOOT], step, { class: "r1-hit", "data-m": m }),
    );
    const sumName = h("text", { x: sumAt, y: 2 * ROW + 17, "text-anchor": "middle" }, "sum");
    svg.setAttribute(
      "aria-label",
      `Cosine and sine of ${count(K)} stored pictures; sums ${fixed(entry.cos)} and ${fixed(entry.sin)}`,
    );
    svg.replaceChildren(...rows.flat(), ...small, sumName, ...columns);
  }

  return {
    element: levelOf("r1-entry", both, foot.element),
    door: foot.door,
    draw(look, context) {
      drawBars(look, context);
      foot.draw(look, context);
      relight(look, context);
    },
  };
};

/**
 * Ŝ from more and more frequencies, and its slope.
 *
 * @type {(inner: () => void) => Level}
 */
function sumLevel(inner) {
  const { element, draw } = chart({
    title: "Ŝ from the first frequencies",
    caption: false,
    x: { label: "mean over so many frequencies", scale: "log" },
    y: { label: "Ŝ" },
    frame: { width: 320, height: 122, left: 50 },
    series: [
      { key: "estimate", label: "distributed, Ŝ", tone: "distributed" },
      { key: "exact", label: "exact, S", tone: "exact", dash: "5 3" },
    ],
  });
  const slope = captioned("direction of a step");
  const foot = footOf(3, inner, "One step");
  return {
    element: levelOf("r1-sum-level", element, slope.element, foot.element),
    door: foot.door,
    draw(look, context) {
      const { running, exact, S } = look;
      const { Y } = context;
      /** @type {[number, number][]} */
      const estimate = [];
      for (let i = 0; i < running.length; i += 2) estimate.push([running[i], running[i + 1]]);
      const all = [0, exact, ...estimate.map(([, v]) => v)];
      const [low, high] = [Math.min(...all), Math.max(...all)];
      const room = ROOM * (high - low || 1); // also below 0, so that the mark of 0 is clear of the axis
      draw({
        lines: {
          estimate,
          exact: [
            [1, exact],
            [Y, exact],
          ],
        },
        x: [1, Y],
        y: [low - 2 * room, high + room],
        summary: `From all ${count(Y)} frequencies Ŝ is ${figures(S)}; the exact memory gives ${figures(exact)}.`,
      });
      slope.show(look.slope.bytes, "enlarged");
      foot.draw(look, context);
    },
    /** Draws the curve gradually, from one frequency to all. */
    enter() {
      const curve = /** @type {Element} */ (element.querySelector("path"));
      curve.setAttribute("pathLength", "1");
      const dash = { strokeDasharray: "1 1" };
      curve.animate(
        [
          { ...dash, strokeDashoffset: 1 },
          { ...dash, strokeDashoffset: 0 },
        ],
        DRAWN,
      );
    },
  };
}

/**
 * The state, the step, and the next state; at rest or at the last step, the button leads back to the first step.
 *
 * @type {(take: (first: boolean) => void) => Level}
 */
function stepLevel(take) {
  let isOver = false;
  const foot = footOf(4, () => take(isOver), "");
  const row = rowOf(["state", "step", "next state"], "+", foot, ({ numbers }, i) => {
    const [pixel, move] = [numbers.state[i], numbers.move[i]];
    return [pixel, move, pixel + move];
  });
  const [state, step, next] = row.pictures;
  return {
    element: row.element,
    door: foot.door,
    draw(look, context) {
      isOver = look.atRest || look.step >= context.steps;
      state.show(look.state);
      step.show(look.enlarged.bytes, look.atRest ? "none" : enlarged(look.enlarged.top));
      next.show(look.next);
      setText(foot.door, isOver ? "From the first step" : "Take this step");
      foot.door.disabled = isOver && look.step === 0;
      row.draw(look, context);
    },
  };
}

/**
 * All levels from the outside in. `inner()` leads one level in, `take(first)` takes the step, or goes to the first.
 *
 * @param {{ inner(): void, take(first: boolean): void }} on
 * @returns {Level[]}
 */
export function createLevels({ inner, take }) {
  /** @type {Map<string, string>} */
  const addresses = new Map();
  const { canvas, show } = picture({ label: "", size: SIDE });
  /** @type {Thumbnail} */
  const thumbnail = (id, values, bits) => {
    const known = addresses.get(id);
    if (known) return known;
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

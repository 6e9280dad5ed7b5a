// The reader's controls: three that move the point of the map, and below them those of the memory and of the query.
import { button, fill, group, select, toggle } from "../kit/controls.js";
import { h } from "../kit/dom.js";
import { fieldsOf } from "../kit/fields.js";
import { count, figures, fixed, percent } from "../kit/number.js";
import { slider } from "../kit/slider.js";
import { FILLS, SIDES } from "../math/corruption.js";
import { BASES } from "../math/features.js";
import { paintControls } from "./paint.js";
import { DEFAULTS, RULES, SIZES, storedOf } from "./settings.js";
import { offered, storedPictures } from "./stored.js";

/** @import { Fill } from "../math/corruption.js" */
/** @import { Patch } from "./change.js" */
/** @import { Brush } from "./paint.js" */
/** @import { Library } from "./library.js" */
/** @import { Settings } from "./settings.js" */

/** @typedef {(patch: Patch) => void} Change */
/** @typedef {{ fileToStore(file: File): void, clearPaint(): void, toolChanged(): void }} On */

const STOPS = 60; // of a slider, at least three pixels apart on a phone

/** @type {<W extends string>(words: W[]) => [W, string][]} */
const titled = (words) => words.map((word) => [word, word]);

/**
 * Stops at equal ratios, without duplicates.
 *
 * @type {(ends: readonly number[], digits?: number, n?: number) => number[]}
 */
export function stops([low, high], digits = 3, n = STOPS) {
  const all = Array.from({ length: n + 1 }, (_, i) =>
    Number((low * (high / low) ** (i / n)).toPrecision(digits)),
  );
  return [...new Set(all)];
}

/**
 * The stops, with the one nearest to `home` replaced by it, so that a slider can return to where it began.
 *
 * @type {(all: number[], home: number) => number[]}
 */
export function through(all, home) {
  const distances = all.map((v) => Math.abs(Math.log(v / home)));
  const nearest = distances.indexOf(Math.min(...distances));
  return all.map((v, i) => (i === nearest ? home : v));
}

/** @param {number} n */
const upTo = (n) => (n <= 24 ? Array.from({ length: n }, (_, i) => i + 1) : stops([1, n], 2));

/**
 * `change(patch)` takes new settings; `brush` is the paint tool's own state.
 *
 * @param {Settings} settings
 * @param {Library} library
 * @param {Brush} brush
 * @param {Change} change
 * @param {On} on
 */
export function createPanel(settings, library, brush, change, on) {
  const first = firstControls(settings, change);
  const memory = memoryControls(settings, change);
  const query = queryControls(settings, change);
  const cover = coverControls(settings, change);
  const grid = storedPictures(library, change, on);
  const paint = paintControls(brush, on);
  let [offer, kind] = ["", ""];

  /** @param {Settings} next */
  function showTargets({ collection, target, ...rest }) {
    const stored = new Set(storedOf({ ...rest }));
    const keys = [...new Set([...offered(library, collection), target])];
    const signature = JSON.stringify([collection, target, keys, [...stored]]);
    if (signature === offer) return;
    offer = signature;
    const named = keys.map((key) => {
      const label = library.label(collection, key);
      return /** @type {[number, string]} */ ([
        key,
        stored.has(key) ? label : `${label} (not stored)`,
      ]);
    });
    query.target.offer(named, String(target));
  }

  /** @param {Settings} next */
  function showKind({ collection }) {
    if (collection === kind) return;
    kind = collection;
    first.K.bound({ values: upTo(library.count(collection)) });
    const sizes = SIZES[collection].filter((n) => collection === "bits" || n <= library.side);
    const channels = collection === "bits" ? "" : " × 3";
    memory.size.offer(sizes.map((n) => [n, `${n} × ${n}${channels}`]));
    cover.flips.element.hidden = collection !== "bits";
  }

  return {
    first: Object.values(first).map((c) => c.element),
    grid: grid.element,
    cover: Object.values(cover).map((c) => c.element),
    weigh: grid.weigh,
    /** Takes the β up to which pictures mix, and the β from which on noise wins. */
    stretch: first.beta.stretch,
    more: h(
      "div",
      { class: "r1-controls" },
      group("Stored", grid.bar, "r1-wide"),
      group(
        "The memory",
        Object.values(memory).map((c) => c.element),
      ),
      group("The query", [...Object.values(query).map((c) => c.element), paint.elements]),
    ),
    showBrush: paint.show,
    /**
     * Writes the settings into every control.
     *
     * @param {Settings} next
     */
    show(next) {
      const { target, ...shown } = query;
      const { redraw, ...rest } = memory;
      showKind(next);
      fill({ ...first, ...rest, ...shown, ...cover }, next);
      showTargets(next);
      grid.show(next);
    },
  };
}

/**
 * The controls of β, Y and K, which the map shows.
 *
 * @param {Settings} settings
 * @param {Change} change
 */
function firstControls(settings, change) {
  const of = fieldsOf(settings, change);
  return {
    beta: slider({
      ...of("beta"),
      label: "selectivity",
      symbol: "β",
      stretches: {
        low: {
          word: "pictures mix",
          why: (stop) =>
            `Below about β = ${stop}, the exact memory mixes two pictures or more (formula). Press to set it.`,
        },
        between: {
          word: "works",
          why: (stop) =>
            `Here both memories find the picture (formula). K moves both ends, Y the upper one. Press for β = ${stop}.`,
        },
        high: {
          word: "noise",
          why: (stop) =>
            `Above about β = ${stop}, the noise of the distributed memory is above its limit (formula). Press to set it.`,
        },
      },
      values: through(stops(RULES.numbers.beta), DEFAULTS.beta),
      format: (v) => figures(v, 3),
      title:
        "How selective the memories are. With a large β only pictures close to the query count; with a small β many are mixed.",
    }),
    Y: slider({
      ...of("Y"),
      label: "frequencies",
      symbol: "Y",
      values: through(stops(RULES.counts.Y, 2), DEFAULTS.Y),
      format: count,
      effect: "less noise",
      title:
        "How many sets of random weights a picture is multiplied with. With sincos features, each of these frequencies gives two numbers per picture, a cosine and a sine. The vector T adds them up over all pictures, so it has 2Y numbers.",
    }),
    K: slider({
      ...of("K"),
      label: "pictures",
      symbol: "K",
      values: upTo(24),
      format: count,
      effect: "more noise, more mixing",
      title:
        "How many of the collection are stored, its first K; your own are added to them. Each adds its own error to every reading of T.",
    }),
  };
}

/**
 * @param {Settings} settings
 * @param {Change} change
 */
function memoryControls(settings, change) {
  const of = fieldsOf(settings, change);
  return {
    eta: slider({
      ...of("eta"),
      label: "step size",
      symbol: "η",
      values: stops(RULES.numbers.eta, 2),
      format: (v) => figures(v, 2),
      title: "Small steps succeed from farther away, but take longer",
    }),
    steps: slider({
      ...of("steps"),
      label: "steps at most",
      values: [10, 20, 30, 40, 60, 100, 150, 200, 300, 500, 1000],
      format: count,
      title:
        "A run ends where a step moves no pixel by a quarter of a grey level, or after so many",
    }),
    basis: select({
      ...of("basis"),
      label: "Features",
      options: titled(BASES),
      title:
        "The functions whose products estimate the kernel; exp and expexp are positive, and overflow soon",
    }),
    size: select({
      ...of("size"),
      label: "Size",
      options: [],
      onInput: (v) => change({ size: Number(v) }),
    }),
    redraw: {
      element: button({
        label: "Draw other features",
        onClick: () => change({ redraw: true }),
        title: "Another seed: other random frequencies, same law",
        "data-name": "redraw",
      }),
    },
  };
}

/**
 * @param {Settings} settings
 * @param {Change} change
 */
function queryControls(settings, change) {
  const of = fieldsOf(settings, change);
  return {
    target: select({
      ...of("target"),
      label: "True picture",
      options: [],
      onInput: (v) => change({ target: Number(v) }),
    }),
    side: select({ ...of("side"), label: "Covered side", options: titled(SIDES) }),
    fill: select({
      ...of("fill"),
      label: "Covered with",
      options: titled(/** @type {Fill[]} */ (Object.keys(FILLS))),
    }),
    clamp: toggle({
      ...of("clamp"),
      label: "Hold the known pixels",
      title: "Known pixels keep the value they have in the query; only the others descend",
    }),
    noise: slider({
      ...of("noise"),
      label: "noise on known pixels",
      min: 0,
      max: 0.5,
      step: 0.01,
      format: fixed,
    }),
  };
}

/**
 * The controls of the fraction of the picture that the query hides or flips.
 *
 * @param {Settings} settings
 * @param {Change} change
 */
function coverControls(settings, change) {
  const of = fieldsOf(settings, change);
  return {
    fraction: slider({
      ...of("fraction"),
      label: "hidden",
      min: 0,
      max: 1,
      step: 0.01,
      format: percent,
    }),
    flips: slider({
      ...of("flips"),
      label: "flipped",
      min: 0,
      max: 0.5,
      step: 0.01,
      format: percent,
    }),
  };
}

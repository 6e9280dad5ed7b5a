// The map of errors over β or K, and Y: predicted at once from distances, then measured by the worker, coarse to fine.
import { errorMap } from "../kit/map.js";
import { count, figures } from "../kit/number.js";
import { Foresight, foreseenError, noiseEdge } from "./math/phase.js";
import { AHEAD } from "./report.js";
import { storedOf } from "./settings.js";

/** @import { Cell, Limit, MapJob } from "./errormap.js" */
/** @import { Library } from "./library.js" */
/** @import { Foreseen } from "./math/phase.js" */
/** @import { Ready, Settings } from "./settings.js" */

const ROWS = 10;
const BETAS = geometric(1, 200, 20);
/** @type {[number, number]} */
const ENDS = [1000, 200000];
const YS = geometric(...ENDS, ROWS).map(Math.round);
const PICTURES = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 18, 20, 22, 24];
const BITS = geometric(2, 500, 16).map(Math.round);
const DARKEST = 0.35; // larger errors have the same colour, because a grey square does no worse
const LOST = { photographs: 0.4, bits: 0.5 }; // errors of a run lost in noise
const MIXED = 2; // a memory that mixes this many patterns or more is said to mix
const LARGEST = 4096; // the map is measured only for patterns of at most this many entries
const COARSE = [4, 2, 1];
const ROOM = 720; // pixels: in a window of this width or more, the cells have room for pictures

/** @type {(low: number, high: number, n: number) => number[]} */
function geometric(low, high, n) {
  const ratio = (high / low) ** (1 / n); // between the middles of n cells
  return Array.from({ length: n }, (_, i) => low * ratio ** (i + 0.5));
}

/**
 * All cells of the map from coarse to fine, column by column.
 *
 * @type {(columns: number, rows: number) => [number, number][]}
 */
export function coarseToFine(columns, rows) {
  /** @type {[number, number][]} */
  const order = [];
  const visited = new Set();
  for (const stride of COARSE) {
    for (let i = stride >> 1; i < columns; i += stride) {
      for (let j = stride >> 1; j < rows; j += stride) {
        if (!visited.has(i * rows + j)) order.push([i, j]);
        visited.add(i * rows + j);
      }
    }
  }
  return order;
}

/**
 * @param {Library} library
 * @param {{ onMove(patch: Partial<Settings>): void, onStep(steps: [number, number]): void }} on
 */
export function phaseMap(library, on) {
  let across = /** @type {"beta" | "K"} */ ("beta");
  const map = errorMap({
    title: "Error of the distributed memory",
    name: "The setting",
    key: ["mean error 0", `${DARKEST} or more`],
    wide: innerWidth >= ROOM,
    y: "frequencies Y",
    series: [
      {
        key: "noise",
        label: "below this line, the noise is too strong (formula)",
        tone: "ink",
        dash: "6 3",
      },
      {
        key: "blend",
        label: "at this line, pictures begin to mix (formula)",
        tone: "ink",
        dash: "2 3",
      },
    ],
    onMove: ([x, y]) => on.onMove({ [across]: x, Y: y }),
    onStep: on.onStep,
  });
  /** @type {Map<number, { error: number, picture: Uint8Array }>} */
  const known = new Map();
  let key = "";
  /** @type {number[]} */
  let xs = BETAS;
  /** @type {Foreseen[]} */
  let columns = [];
  /** @type {Foresight[]} One for each column. */
  let foresights = [];
  /** @type {Map<number, number>} By column, the roughness up to which a run finds its picture. */
  const limits = new Map();
  let here = ""; // the settings of `foresight` and `mixed`
  /** @type {Foresight | null} */
  let foresight = null;
  /** @type {number | null} */
  let mixed = null; // the β at which pictures begin to mix
  /** @type {number | null} */
  let mark = null; // `mixed` as the slider of β shows it

  /** @type {(settings: Settings, x: number) => Settings} */
  const at = (settings, x) => (across === "K" ? withK(settings, x) : { ...settings, beta: x });

  /** @type {(settings: Settings, ready: Ready) => Foresight} */
  const foresightOf = (settings, { config }) => {
    const { collection, size } = settings;
    const patterns = storedOf(settings).map((key) => library.pattern(collection, key, size));
    return new Foresight({ ...config, patterns });
  };

  /**
   * The Y of a column at which the noise is at its limit, or null if that Y is not on the map or not yet known.
   *
   * @type {(column: number, setting: { freedom: number, paired: boolean }) => number | null}
   */
  function limitAt(column, { freedom, paired }) {
    const limit = limits.get(column);
    if (!limit) return null;
    const K = foresights[column].start.length;
    return onMap((freedom * K) / ((paired ? 2 : 1) * limit * limit));
  }

  /**
   * The measurement in a cell, or in the middle of the smallest block around it that has one.
   *
   * @type {(column: number, row: number) => { error: number } | undefined}
   */
  function nearest(column, row) {
    for (const stride of COARSE.toReversed()) {
      const [i, j] = [column, row].map((n) => n - (n % stride) + (stride >> 1));
      const measured = known.get(i * ROWS + j);
      if (measured && j < ROWS) return measured;
    }
  }

  return {
    element: map.element,
    /** Takes measured cells, and the limits of columns. @type {(cells: Cell[], limits: Limit[]) => void} */
    take(cells, news) {
      for (const [column, limit] of news) limits.set(column, limit);
      for (const [column, row, error, picture] of cells)
        known.set(column * ROWS + row, { error, picture });
    },
    known: () => known.size,
    /** The predictions for the stored pictures and the query last shown. */
    get foresight() {
      return foresight;
    },
    /** The β below which pictures mix, or null if there is none or it is hidden. */
    mark: () => mark,
    /**
     * The β above which the noise is above its limit, or null if that is not known.
     *
     * @type {(settings: Settings, ready: Ready) => number | null}
     */
    lost({ Y, basis, across }, { freedom, stored }) {
      if (across !== "beta" || limits.size < BETAS.length) return null;
      const noise = Math.sqrt((freedom * stored.length) / ((basis === "sincos" ? 2 : 1) * Y));
      return crossing(BETAS.map((beta, i) => [beta, (limits.get(i) ?? 0) / noise]));
    },
    /**
     * Draws the map. `drawn` is a number that changes with the layer of paint; `hide` leaves out what would give the
     * answer away.
     *
     * @type {(settings: Settings, ready: Ready, how: { drawn: number, ghost: Settings | null, hide: boolean }) => void}
     */
    show(settings, ready, { drawn, ghost, hide }) {
      across = settings.across;
      xs = across === "beta" ? BETAS : settings.collection === "bits" ? BITS : PICTURES;
      const { Y, beta, K, inside: _, ...others } = settings;
      const fixed = across === "beta" ? { K } : { beta };
      const id = JSON.stringify([others, fixed, drawn]);
      if (id !== key) {
        key = id;
        known.clear();
        limits.clear();
        if (across === "K") {
          foresights = xs.map((x) => foresightOf(at(settings, x), ready));
          columns = foresights.map((all) => all.column(beta));
        }
      }
      const stored = JSON.stringify([others, K, drawn]);
      if (stored !== here || !foresight) {
        here = stored;
        const all = foresightOf(settings, ready);
        const overBeta = BETAS.map((b) => all.column(b));
        foresight = all;
        mixed = mixing(BETAS, overBeta)[0]?.[0] ?? null;
        if (across === "beta") {
          columns = overBeta;
          foresights = BETAS.map(() => all);
        }
      }
      const { freedom, config } = ready;
      const lost = LOST[settings.collection];
      const paired = settings.basis === "sincos" || settings.basis === "expexp";
      const setting = { D: config.D, freedom, eta: settings.eta, paired, lost };
      const lawful = settings.basis === "sincos" || settings.basis === "cos";
      // bits have too few numbers for the law of a whole run, so their line is that of the first step
      const tooStrong = (/** @type {number} */ column) =>
        settings.collection === "bits"
          ? edgeOf(columns[column], setting)
          : limitAt(column, setting);
      mark = hide ? null : mixed;
      map.show({
        xs,
        ys: YS,
        edition: `${key} ${known.size} ${limits.size} ${hide}`,
        cell(column, row) {
          const measured = nearest(column, row);
          if (measured) return measured.error / DARKEST;
          if (!lawful || hide) return null;
          return foreseenError(columns[column], YS[row], setting) / DARKEST;
        },
        picture: (column, row) => known.get(column * ROWS + row)?.picture ?? null,
        point: [settings[across], Y],
        ghost: ghost?.across === across ? [ghost[across], ghost.Y] : null,
        words: `β ${figures(beta)}, Y ${count(Y)}, K ${count(K)}`,
        lines: {
          noise: lawful && !hide ? xs.map((x, i) => [x, tooStrong(i)]) : [],
          blend: hide ? [] : mixing(xs, columns),
        },
        xLabel: across === "beta" ? "selectivity β" : `${wordOf(settings)} stored, K`,
        title: `Error of the distributed memory, for each ${across === "beta" ? "β" : "K"} and Y`,
        summary: `${known.size} of ${xs.length * ROWS} cells measured, the others computed from a formula.`,
        note: hide ? "Drawn once you have guessed." : "",
      });
    },
    /**
     * The measurements still to be made, or null if none are.
     *
     * @type {(settings: Settings, ready: Ready) => { job: MapJob, pictures: Map<string, Float32Array> } | null}
     */
    missing(settings, { config, isStored }) {
      const order = coarseToFine(xs.length, ROWS).filter(([i, j]) => !known.has(i * ROWS + j));
      if (order.length === 0 || config.D > LARGEST) return null;
      const { collection, size } = settings;
      /** @type {Map<string, Float32Array>} */
      const pictures = new Map();
      const { eta, steps, target } = settings;
      const isWave = settings.basis === "sincos" || settings.basis === "cos"; // the law holds for these features only
      const lawful = isStored && isWave && collection !== "bits";
      const all = xs.map((x, i) => {
        const one = at(settings, x);
        const wanted = storedOf(one).indexOf(target);
        const { start, held, geometry } = foresights[i];
        const { moving } = geometry;
        const descent =
          lawful && wanted >= 0 && !limits.has(i)
            ? { start, held, moving, wanted, eta, steps, ahead: AHEAD }
            : null;
        const ids = storedOf(one).map((k) => {
          const id = library.id(collection, k, size);
          pictures.set(id, library.pattern(collection, k, size));
          return id;
        });
        return { beta: one.beta, ids, descent };
      });
      return { job: { config, columns: all, Ys: YS, order }, pictures };
    },
  };
}

/**
 * The last x at which the ratio falls through 1. If all ratios are below 1, the first x with a positive ratio. Null if
 * the last ratio is 1 or more, or if none is positive.
 *
 * @param {[x: number, ratio: number][]} points
 */
export function crossing(points) {
  const above = points.findLastIndex(([, ratio]) => ratio >= 1);
  if (above === points.length - 1) return null;
  if (above < 0) return points.find(([, ratio]) => ratio > 0)?.[0] ?? null;
  const [[a, high], [b, low]] = points.slice(above, above + 2);
  return a * (b / a) ** (Math.log(high) / Math.log(high / Math.max(low, 1e-3)));
}

/** @type {(settings: Settings, K: number) => Settings} */
const withK = (settings, K) => ({
  ...settings,
  K,
  also: settings.also.filter((key) => key < 0),
  without: [],
});

/** @param {Settings} settings */
const wordOf = ({ collection }) => (collection === "bits" ? "patterns" : "pictures");

/** @type {(column: Foreseen, setting: { freedom: number, eta: number, paired: boolean }) => number | null} */
const edgeOf = (column, setting) => onMap(noiseEdge(column, setting));

/** @param {number} Y */
const onMap = (Y) => (Y >= ENDS[0] && Y <= ENDS[1] ? Y : null);

/**
 * The vertical line at which MIXED patterns are mixed; empty if there is none.
 *
 * @type {(xs: number[], columns: Foreseen[]) => [number, number][]}
 */
function mixing(xs, columns) {
  for (let i = 1; i < xs.length; i++) {
    const [a, b] = [columns[i - 1].mixed - MIXED, columns[i].mixed - MIXED];
    if (a * b > 0 || a === b) continue;
    const x = xs[i - 1] * (xs[i] / xs[i - 1]) ** (a / (a - b));
    return [
      [x, ENDS[0]],
      [x, ENDS[1]],
    ];
  }
  return [];
}

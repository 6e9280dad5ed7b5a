// The reader's settings, and the quantities that follow from them.
import RULES from "../../src/rankone_book/widgets/settings/surface.json" with { type: "json" };
import { within } from "../kit/address.js";
import { bounded } from "../kit/number.js";
import { isOccluded } from "../math/corruption.js";
import { Exact } from "../math/plane/exact.js";
import { descend, squaredDistance } from "./math/pictures.js";

/** @import { Point } from "../kit/handle.js" */
/** @import { Pictures, Run } from "./math/pictures.js" */

/**
 * A run starts at a picture of which a part is covered with grey, or at a blend of the three.
 *
 * @typedef {"covered" | "blend"} Start
 */
/**
 * @typedef {{
 *   start: Start, from: number, covered: number, query: Point, beta: number, eta: number, steps: number, turn: number,
 * }} Settings
 */
/** @typedef {Partial<Settings>} Patch */
/** The three pictures with their names, `side` in pixels, and `reach`, the radius of the disc of the plane on show. */
/** @typedef {{ names: string[], pictures: Pictures, side: number, reach: number }} Stored */
/**
 * The consequences of the settings: the energy on the plane; the run; `rests`, the minima at which descents from the
 * pictures end; `least`, the lowest energy there; and the picture nearest to the run's end, with the distance to it.
 *
 * @typedef {{ exact: Exact, run: Run, rests: Point[], least: number, nearest: number, apart: number }} Consequences
 */

export const admits = within(RULES);

/** @type {Settings} */
export const DEFAULTS = {
  start: "covered",
  from: 0,
  covered: 0.5,
  query: [0, 0],
  beta: 120,
  eta: 0.12,
  steps: 40,
  turn: 0,
};

/**
 * The radius of the disc around the mean that is drawn: 1.4 times the distance of the farthest picture.
 *
 * @param {Pictures} pictures
 */
export const reachOf = ({ places }) => 1.4 * Math.max(...places.map((at) => Math.hypot(...at)));

/**
 * The settings after a change. Moving the start switches to a blend; choosing or covering a picture switches back.
 *
 * @type {(settings: Settings, patch: Patch) => Settings}
 */
export function nextSettings(settings, patch) {
  const next = { ...settings, ...patch };
  if (patch.start === undefined && patch.query) next.start = "blend";
  if (patch.start === undefined && (patch.from ?? patch.covered) !== undefined)
    next.start = "covered";
  return next;
}

/** @param {object} [given] */
export const settingsFrom = (given = {}) => nextSettings(DEFAULTS, given);

/** @type {(at: Point, reach: number) => Point} */
export const inside = ([x, y], reach) => {
  const shrink = Math.min(1, reach / Math.hypot(x, y));
  return [bounded(x * shrink, -reach, reach), bounded(y * shrink, -reach, reach)];
};

/**
 * The state at which a run starts, in the memories' unit.
 *
 * @type {(settings: Settings, stored: Stored) => Float64Array}
 */
export function startOf({ start, from, covered, query }, { pictures, side, reach }) {
  if (start === "blend") return pictures.lift(inside(query, 0.95 * reach));
  const truth = pictures.vectors[from];
  const grey = 0.5 / Math.sqrt(truth.length);
  return truth.map((v, i) => {
    const pixel = Math.floor(i / 3);
    const isHidden = isOccluded(Math.floor(pixel / side), pixel % side, side, covered, "bottom");
    return isHidden ? grey : v;
  });
}

/**
 * @param {Settings} settings
 * @param {Stored} stored
 * @returns {Consequences}
 */
export function consequences(settings, stored) {
  const { beta, eta, steps } = settings;
  const { pictures } = stored;
  const exact = new Exact(pictures.places, beta);
  const run = descend({ pictures, beta, start: startOf(settings, stored), eta, steps });
  const rests = restsOf(exact);
  const last = run.states[steps];
  const distances = pictures.vectors.map((xi) => Math.sqrt(squaredDistance(last, xi)));
  const apart = Math.min(...distances);
  return {
    exact,
    run,
    rests,
    least: Math.min(...rests.map((at) => exact.energy(at))),
    nearest: distances.indexOf(apart),
    apart,
  };
}

const MERGED = 0.005; // places that are nearer to each other count as one

/**
 * The places at which descents from the pictures end, with steps of size 1.
 *
 * @param {Exact} exact
 */
function restsOf(exact) {
  /** @type {Point[]} */
  const rests = [];
  for (const place of exact.patterns) {
    let x = place;
    for (let t = 0; t < 400; t++) {
      const g = exact.gradient(x);
      x = [x[0] - g[0], x[1] - g[1]];
      if (Math.hypot(...g) < 1e-8) break;
    }
    if (rests.every((at) => Math.hypot(at[0] - x[0], at[1] - x[1]) > MERGED)) rests.push(x);
  }
  return rests;
}

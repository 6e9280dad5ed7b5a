// One gradient step, and all quantities of it that the explorer shows.
import { norm } from "../math/linear.js";
import { forward, gradientStep, outputs, size } from "./math/network.js";
import { CONSTANTS, lookup } from "./math/tables.js";
import { isTable, targetOf } from "./settings.js";

/** @import { Network, Pass, Step } from "./math/network.js" */
/** @import { Construction, Settings } from "./settings.js" */

/** @typedef {ReturnType<typeof observe>} Seen */
/** @typedef {{ label: string, share: number, value: number, expected?: boolean }} Slot */

const POINTS = 200;
const WRITTEN = CONSTANTS.alpha * CONSTANTS.linear;
/** The values of x* at which the curves are drawn. None lies on a ramp between two cells. */
export const GRID = Array.from({ length: POINTS }, (_, i) => (i + 0.2) / POINTS);

/** @type {(a: number[], b: number[]) => number} */
const rms = (a, b) => norm(a.map((v, i) => v - b[i])) / Math.sqrt(a.length);
/** @param {Float64Array} values */
const largest = (values) => values.reduce((m, v) => Math.max(m, Math.abs(v)), 0);

/** @type {WeakMap<Network, number[]>} */
const untaught = new WeakMap(); // outputs on the grid before the step
/** @type {WeakMap<Network, { key: string, step: Step, after: number[] }>} */
const taught = new WeakMap(); // the last step and the outputs after it, which do not depend on the probe

/** @param {Network} network */
function beforeOf(network) {
  const before = untaught.get(network) ?? Array.from(outputs(network, GRID));
  untaught.set(network, before);
  return before;
}

/** @type {(network: Network, settings: Pick<Settings, "x" | "y" | "ratio">) => { step: Step, after: number[] }} */
function stepOf(network, { x, y, ratio }) {
  const key = JSON.stringify([x, y, ratio]);
  const known = taught.get(network);
  if (known?.key === key) return known;
  const step = gradientStep(network, x, y, ratio * network.alpha);
  const latest = { key, step, after: Array.from(outputs(network, GRID, step)) };
  taught.set(network, latest);
  return latest;
}

/**
 * @param {Network} network
 * @param {Settings} settings
 */
export function observe(network, settings) {
  const { x, y, probe, construction, size: J } = settings;
  const target = targetOf(settings);
  const { step, after } = stepOf(network, settings);
  const wanted = GRID.map((v) => target(x, y, v));
  const inTable = isTable(construction) ? lookup(target, J) : null;
  const table = inTable && GRID.map((v) => inTable(x, y, v));
  const looked = forward(network, probe, step);
  return {
    step,
    before: beforeOf(network),
    after,
    wanted,
    table,
    start: step.before,
    gap: y - step.before,
    atProbe: { output: looked.output, wanted: target(x, y, probe) },
    error: rms(after, wanted),
    deviation: table && rms(after, table),
    tableError: table && rms(table, wanted),
    switchAfter: network.switch === null ? null : network.switch - step.alpha * step.switch,
    plane: construction === "two_layers" ? planeOf(network, settings, looked, step) : null,
    slots: slotsOf(network, settings, looked, y - step.before),
    flow: flowOf(network, step, looked, forward(network, probe)),
    depth: network.layers.length,
    parameters: size(network),
  };
}

/**
 * The values that the step has written, as they are read at x*: one entry per slot. `share` is the value as a fraction
 * of the value that a slot should have when it fires.
 *
 * @type {(network: Network, settings: Settings, looked: Pass, gap: number) => Slot[]}
 */
function slotsOf(network, settings, looked, gap) {
  const { construction, x, probe, size: J } = settings;
  const { alpha, linear: w, epsilon } = CONSTANTS;
  if (!network.stack || !network.channels) return ownSlots(settings, looked, gap);
  const [half, slots] = network.channels;
  const z = looked.inputs[network.stack[1]].subarray(half, half + slots);
  const unit = alpha * w;
  const full = unit * gap * (1 + epsilon) * (construction === "seed" ? 1 + 2 * epsilon : 1);
  const names = slotNames(construction, J);
  const [j, l] = [x, probe].map((v) => Math.min(Math.floor(v * J), J - 1));
  return Array.from(z, (v, s) => ({
    label: names(s),
    value: v / unit,
    expected: construction === "seed" && s === j + J * l,
    share: v / full,
  }));
}

/**
 * The slots of the networks without θ_b, which write two numbers.
 *
 * @type {(settings: Settings, looked: Pass, gap: number) => Slot[]}
 */
function ownSlots({ construction, offset }, looked, gap) {
  /** @type {(label: string, value: number) => Slot} */
  const slot = (label, value) => ({ label, value, share: value / (2 * gap) });
  if (construction === "two_layers") {
    const [v0, v1] = [1, 2].map((i) => (looked.inputs[1][i] - offset) / WRITTEN);
    return [slot("v₀", v0), slot("v₁", v1)]; // v₀ = Δ(1 + x x*); v₁ = v₀ times the fraction of thresholds below x
  }
  const [second, first] = looked.inputs[3];
  return [slot("Δκ₁", first), slot("Δκ₂", second)];
}

/**
 * A reader at the probe x*. It is active where a₀v₀ + a₁v₁ + c > 0.
 *
 * @typedef {{ a: [number, number], c: number, isActive: boolean }} Reader
 */
/**
 * The plane of the two slots: the number of cells of x; `ray`, the slope v₁/v₀ of the ray for x; the point (v₀, v₁)
 * written at x*; `span`, the least and the greatest v₀ over all x*; and the readers.
 *
 * @typedef {{
 *   cells: number, ray: number, written: [number, number], span: [number, number], readers: Reader[],
 * }} Plane
 */

/**
 * @type {(network: Network, settings: Settings, looked: Pass, step: Step) => Plane}
 */
function planeOf(network, { x, probe, offset, size: units, ratio, y }, looked, step) {
  const { W, b } = network.layers[1];
  const first = W.rows - units; // the rows before the readers: the path, and a threshold for each cell but one
  const unit = WRITTEN;
  const delta = ratio * (y - step.before);
  const readers = Array.from({ length: units }, (_, i) => {
    const row = first + i;
    const a = [0, 0, 0];
    for (let k = W.start[row]; k < W.start[row + 1]; k++) a[W.index[k]] = W.value[k];
    const bias = b?.[row] ?? 0;
    return {
      a: /** @type {[number, number]} */ ([unit * a[1], unit * a[2]]),
      c: bias + a[0] * probe + offset * (a[1] + a[2]),
      isActive: looked.pres[1][row] > 0,
    };
  });
  const [v0, v1] = [1, 2].map((i) => (looked.inputs[1][i] - offset) / unit);
  // if x lies on a threshold, rounding decides on which side: that of the network counts
  const below = step.inputs[2].subarray(1, first).filter((unit) => unit > 0).length;
  return {
    cells: first,
    ray: below / first,
    written: [v0, v1],
    span: [delta, delta * (1 + x)],
    readers,
  };
}

/** @type {(construction: Construction, J: number) => (s: number) => string} */
function slotNames(construction, J) {
  if (construction === "seed")
    return (s) => `x in cell ${(s % J) + 1}, x* in cell ${Math.floor(s / J) + 1}`;
  if (construction === "constant") return (s) => ["Δ", "Δx"][s];
  const bits = Math.max(1, Math.ceil(Math.log2(J)));
  return (s) => {
    if (s === 0) return "Δ";
    return s <= bits ? `x bit ${s - 1}` : `x* bit ${s - 1 - bits}`;
  };
}

/**
 * The largest entry of each channel in each layer of the stack: of the forward pass before the step, of the written
 * channel and the switch after it, and of the error in the backward pass. Without channels, `written` is the change of
 * the layer's input.
 *
 * @type {(network: Network, step: Step, looked: Pass, untaught: Pass) => Record<"forward" | "written" | "switch" | "error", number[]>}
 */
function flowOf(network, step, looked, untaught) {
  const { stack, channels } = network;
  const [from, to] = stack ?? [1, network.layers.length - 1];
  const [half, slots] = channels ?? [Infinity, 0];
  /** @type {Record<"forward" | "written" | "switch" | "error", number[]>} */
  const flow = { forward: [], written: [], switch: [], error: [] };
  for (let i = from; i <= to; i++) {
    const [before, after] = [step.inputs[i], looked.inputs[i]];
    const error = step.errors[i - 1];
    flow.forward.push(largest(before.slice(0, half)));
    if (channels) {
      flow.written.push(largest(after.slice(half, half + slots)));
      flow.switch.push(after[half + slots]);
      flow.error.push(largest(error.slice(half, half + slots)));
    } else {
      flow.written.push(largest(after.map((v, k) => v - untaught.inputs[i][k])));
      flow.error.push(largest(error));
    }
  }
  return flow;
}

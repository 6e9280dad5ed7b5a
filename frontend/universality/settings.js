// What the reader can set, and the network that the settings describe.
import { fittedNetwork } from "./math/fitted.js";
import { CONSTANTS, tableNetwork } from "./math/tables.js";
import { TARGETS, TENT } from "./math/targets.js";

export const CONSTRUCTIONS = {
  seed: { label: "a layer a cell (published)", sizes: [2, 3, 4, 6, 8, 10, 12] },
  logdepth: { label: "a layer a bit", sizes: [2, 4, 8, 16, 32] },
  constant: { label: "constant depth, fitted", sizes: [50, 100, 200, 400] },
  shallow: { label: "four hidden layers, no θ_b", sizes: [50, 100, 200, 400] },
};
export const isTable = (construction) => construction === "seed" || construction === "logdepth";

export const RATIOS = [0.25, 0.5, 0.8, 0.9, 0.95, 0.99, 1, 1.01, 1.05, 1.1, 1.25, 1.5, 2];
export const OFFSETS = [0, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1];
export const SWITCHES = [0, 1e-12, 1e-10, 1e-8, 1e-6, 1e-5, 1e-4, 3e-4, 1e-3];
export const Y_RANGE = [-2.5, 1.5];
/** Whether the construction promises its table for this y. */
export const isPromised = (y) => Math.abs(y) <= 1 + 1e-9;

export const DEFAULTS = {
  target: "sine",
  construction: "seed",
  size: 8,
  x: 0.3,
  y: 0.7,
  probe: 0.56,
  ratio: 1,
  offset: CONSTANTS.offset,
  switch: CONSTANTS.switch,
  profile: TENT,
};

const nearest = (values, v) =>
  values.reduce((best, w) => (Math.abs(w - v) < Math.abs(best - v) ? w : best));

/** The settings after a patch: a new construction comes with a size that it has. */
export function nextSettings(settings, patch) {
  const next = { ...settings, ...patch };
  const { sizes } = CONSTRUCTIONS[next.construction];
  if (patch.construction && !("size" in patch) && !sizes.includes(next.size)) {
    next.size = nearest(sizes, isTable(next.construction) ? 8 : 200);
  }
  return next;
}

export const targetOf = ({ target, profile }) => TARGETS[target].of(profile);

/** What a network depends on; two settings with the same key have the same network. */
export const networkKey = ({ target, construction, size, offset, switch: theta, profile }) =>
  JSON.stringify([construction, size, offset, theta, target, target === "drawn" ? profile : null]);

export function buildNetwork(settings) {
  const { construction, size, offset, switch: theta } = settings;
  const build = isTable(construction) ? tableNetwork : fittedNetwork;
  return build(targetOf(settings), size, construction, { offset, switch: theta });
}

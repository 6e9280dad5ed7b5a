// Keeps the distributed memory from one setting to the next, and writes into it only what changed.
import { DistributedMemory } from "./math/distributed.js";
import { HadamardFeatures } from "./math/features.js";
import { Simulation } from "./simulation.js";

/** @import { Config, Pattern } from "./simulation.js" */

const OF_FEATURES = /** @type {const} */ (["D", "Y", "seed", "basis"]);

export class Keeper {
  /** @type {{ config: Config, patterns: Pattern[], features: HadamardFeatures, memory: DistributedMemory } | null} */
  held = null;

  /**
   * A simulation of a full configuration.
   *
   * @param {Config & { patterns: Pattern[] }} setting
   */
  begin({ patterns, ...config }) {
    const { held } = this;
    const same = held && OF_FEATURES.every((name) => held.config[name] === config[name]);
    const features = same ? held.features : new HadamardFeatures(config);
    const kept = same && held.config.beta === config.beta ? held : null;
    const memory = written(patterns, kept) ?? fresh(patterns, features, config.beta);
    this.held = { config, patterns, features, memory };
    return new Simulation(config, patterns, memory);
  }
}

/** @type {(patterns: Pattern[], features: HadamardFeatures, beta: number) => DistributedMemory} */
const fresh = (patterns, features, beta) =>
  DistributedMemory.store(
    patterns.map(({ values }) => values),
    beta,
    features,
  );

/**
 * The memory held, with the patterns that came written and those that went erased; null where that is more work.
 *
 * @type {(patterns: Pattern[], held: { patterns: Pattern[], memory: DistributedMemory } | null) => DistributedMemory | null}
 */
function written(patterns, held) {
  if (!held) return null;
  const wanted = new Set(patterns.map((p) => p.id));
  const there = new Set(held.patterns.map((p) => p.id));
  const gone = held.patterns.filter((p) => !wanted.has(p.id));
  const come = patterns.filter((p) => !there.has(p.id));
  if (gone.length + come.length >= patterns.length) return null;
  for (const p of gone) held.memory.remove(p.values);
  for (const p of come) held.memory.add(p.values);
  return held.memory;
}

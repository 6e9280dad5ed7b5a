// Keeps features and the distributed memory from one setting to the next: a smaller Y is a part of a larger one, and
// only what changed is written.
import { DistributedMemory } from "../math/distributed.js";
import { HadamardFeatures } from "../math/features.js";
import { Simulation } from "./simulation.js";

/** @import { Config, Pattern } from "./simulation.js" */
/** @typedef {Pick<Config, "D" | "Y" | "seed" | "basis">} Drawn */

const OF_FEATURES = /** @type {const} */ (["D", "seed", "basis"]);
const LARGER = 2; // times the features wanted, at most, of a memory that is still written to

export class Keeper {
  /** @type {HadamardFeatures | null} */
  features = null;
  /** @type {{ of: Drawn, beta: number, patterns: Pattern[], memory: DistributedMemory } | null} */
  held = null;
  /** @type {Drawn | null} */
  drawn = null;

  /**
   * The features of a setting: drawn, or the first of those that are there.
   *
   * @param {Drawn} setting
   */
  drawing({ D, Y, seed, basis }) {
    const wanted = { D, Y, seed, basis };
    const { features, drawn } = this;
    if (features && drawn && sameDraw(drawn, wanted) && features.Y >= Y) return features.first(Y);
    this.drawn = wanted;
    this.features = new HadamardFeatures(wanted);
    return this.features;
  }

  /**
   * A simulation of a full configuration.
   *
   * @param {Config & { patterns: Pattern[] }} setting
   */
  begin({ patterns, ...config }) {
    const { Y, beta } = config;
    const held = this.fitting(config);
    const memory = (held && written(patterns, held, Y)) ?? this.stored(patterns, config);
    this.held = { of: config, beta, patterns, memory };
    const read = memory.features.Y === Y ? memory : memory.first(Y);
    return new Simulation(config, patterns, read);
  }

  /**
   * What is held, if it has this setting's features and β, and enough of them.
   *
   * @param {Config} config
   */
  fitting(config) {
    const { held } = this;
    if (!held || !sameDraw(held.of, config) || held.beta !== config.beta) return null;
    return held.memory.features.Y >= config.Y ? held : null;
  }

  /** @type {(patterns: Pattern[], config: Config) => DistributedMemory} */
  stored(patterns, config) {
    const values = patterns.map((pattern) => pattern.values);
    return DistributedMemory.store(values, config.beta, this.drawing(config));
  }
}

/** @type {(a: Drawn, b: Drawn) => boolean} */
const sameDraw = (a, b) => OF_FEATURES.every((name) => a[name] === b[name]);

/**
 * The memory held, with the patterns that came written and those that went erased; null where that is more work.
 *
 * @type {(patterns: Pattern[], held: { patterns: Pattern[], memory: DistributedMemory }, Y: number) => DistributedMemory | null}
 */
function written(patterns, held, Y) {
  const wanted = new Set(patterns.map((p) => p.id));
  const there = new Set(held.patterns.map((p) => p.id));
  const gone = held.patterns.filter((p) => !wanted.has(p.id));
  const come = patterns.filter((p) => !there.has(p.id));
  const changes = gone.length + come.length;
  const tooLarge = held.memory.features.Y > LARGER * Y;
  if (changes > 0 && (tooLarge || changes >= patterns.length)) return null;
  for (const p of gone) held.memory.remove(p.values);
  for (const p of come) held.memory.add(p.values);
  return held.memory;
}

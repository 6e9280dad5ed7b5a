// Keeps the features and the distributed memory from one setting to the next. A smaller Y uses the first frequencies of
// a larger Y, and only the patterns that changed are written or erased.
import { DistributedMemory } from "../math/distributed.js";
import { HadamardFeatures } from "../math/features.js";
import { Simulation } from "./simulation.js";

/** @import { Config, Pattern } from "./simulation.js" */
/** @typedef {Pick<Config, "D" | "Y" | "seed" | "basis">} Drawn */

const OF_FEATURES = /** @type {const} */ (["D", "seed", "basis"]);
const LARGER = 2; // a memory with more than this many times the Y needed is stored anew, not updated

export class Keeper {
  /** @type {HadamardFeatures | null} */
  features = null;
  /** @type {{ of: Drawn, beta: number, patterns: Pattern[], memory: DistributedMemory } | null} */
  held = null;
  /** @type {Drawn | null} */
  drawn = null;

  /**
   * The features of a setting: the first Y of those drawn before, or a new draw.
   *
   * @param {Drawn} setting
   */
  drawing({ D, Y, seed, basis }) {
    const draw = { D, Y, seed, basis };
    const { features, drawn } = this;
    if (features && drawn && sameDraw(drawn, draw) && features.Y >= Y) return features.first(Y);
    this.drawn = draw;
    this.features = new HadamardFeatures(draw);
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
   * The last memory, if it has this setting's features and β, and at least its Y; otherwise null.
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
 * The previous memory, with new patterns written and dropped ones erased; null if storing all patterns is less work.
 *
 * @type {(patterns: Pattern[], held: { patterns: Pattern[], memory: DistributedMemory }, Y: number) => DistributedMemory | null}
 */
function written(patterns, held, Y) {
  const ids = new Set(patterns.map((p) => p.id));
  const there = new Set(held.patterns.map((p) => p.id));
  const gone = held.patterns.filter((p) => !ids.has(p.id));
  const come = patterns.filter((p) => !there.has(p.id));
  const changes = gone.length + come.length;
  const tooLarge = held.memory.features.Y > LARGER * Y;
  if (changes > 0 && (tooLarge || changes >= patterns.length)) return null;
  for (const p of gone) held.memory.remove(p.values);
  for (const p of come) held.memory.add(p.values);
  return held.memory;
}

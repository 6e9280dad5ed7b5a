// The two descents, step by step, and what is recorded about them. No drawing, no messages.
import { Geometry, printedBound, signalToNoise } from "./math/bounds.js";
import { DistributedMemory } from "./math/distributed.js";
import { ExactMemory, squaredDistance } from "./math/exact.js";
import { HadamardFeatures } from "./math/features.js";
import { toBytes } from "./math/patterns.js";

/** What is recorded at each step, in this order. */
export const FIELDS = [
  "energyExact",
  "energyDistributed",
  "distance", // between the two states
  "local", // D ← ρ D + η e, with e measured at the distributed state and ρ on the segment [D-sharp1]
  "law", // the same along the exact descent, with e = √(M_A/Y) [D-sharp2]; null where there is none
  "printed", // log₁₀ of Theorem 2 as printed [D-thm2]
  "S",
  "floored",
  "nearestExact",
  "nearestDistributed",
  "errorExact", // mean absolute error over the free entries (all, where none is), in pixel units
  "errorDistributed",
];

export class Simulation {
  constructor() {
    this.patterns = [];
  }

  /** Takes a full configuration and does again only what changed; returns what is known before step 1. */
  configure(next) {
    const last = this.config ?? {};
    const differs = (...names) => names.some((name) => next[name] !== last[name]);
    const D = next.D;
    if (differs("D", "Y", "seed", "basis")) this.features = new HadamardFeatures(next);
    this.rewrite(next, differs("D", "Y", "seed", "basis", "beta") ? [] : this.memory.stored);
    this.config = next;
    this.patterns = next.patterns.map((p) => p.values);
    this.exact = new ExactMemory(this.patterns, next.beta);
    this.geometry = new Geometry(this.patterns, next.beta, next.free);
    this.gradients = [new Float32Array(D), new Float32Array(D), new Float32Array(D)];
    return this.restart();
  }

  /** Writes only the patterns that came and erases only those that went, where that is less work. */
  rewrite(next, stored) {
    const wanted = new Set(next.patterns.map((p) => p.id));
    const held = new Set(stored.map((p) => p.id));
    const gone = stored.filter((p) => !wanted.has(p.id));
    const come = next.patterns.filter((p) => !held.has(p.id));
    const afresh = stored.length === 0 || gone.length + come.length >= next.patterns.length;
    if (afresh) this.memory = new DistributedMemory(this.features, next.beta);
    if (!afresh) for (const p of gone) this.memory.remove(p.values);
    for (const p of afresh ? next.patterns : come) this.memory.add(p.values);
    this.memory.stored = next.patterns;
  }

  restart() {
    const { query, Y, target } = this.config;
    this.x = query.slice();
    this.xHat = query.slice();
    this.step = 0;
    this.drift = { local: 0, law: 0 };
    this.look();
    this.startEnergy = this.at.exact.energy;
    return {
      signal: signalToNoise({ ...this.config, patterns: this.patterns, target }),
      relativeNoise: Math.sqrt(Math.max(this.geometry.variance(this.dx), 0) / Y) / this.at.exact.S,
    };
  }

  /** Evaluates both memories where the two states stand. */
  look() {
    const [g, gHat, gThere] = this.gradients;
    const there = this.exact.energyGradient(this.xHat, gThere); // the exact gradient at the distributed state
    this.dHat = this.exact.distances.slice();
    const exact = this.exact.energyGradient(this.x, g);
    this.dx = this.exact.distances.slice();
    this.at = { exact, there, distributed: this.memory.energyGradient(this.xHat, gHat) };
  }

  /** One step of each memory, and of each bound. */
  advance() {
    const { eta, free, basis, Y } = this.config;
    const [g, gHat, gThere] = this.gradients;
    const { geometry, drift } = this;
    const rho = geometry.segmentContraction(this.dx, this.dHat, eta);
    drift.local = rho * drift.local + eta * Math.sqrt(squaredDistance(gHat, gThere, free));
    if (basis === "sincos") {
      const here = geometry.contraction(this.exact.weights, eta);
      const dFree = free ? geometry.freeDistances(this.x) : this.dx;
      drift.law = here * drift.law + eta * Math.sqrt(geometry.gradientError(this.dx, dFree) / Y);
    } else drift.law = null;
    descend(this.x, g, eta, free);
    descend(this.xHat, gHat, eta, free);
    this.step++;
    this.look();
  }

  /** The numbers of FIELDS at this step. */
  record() {
    const { config, at, dx, dHat, step, geometry } = this;
    const { exact, distributed } = at;
    const K = this.patterns.length;
    const energy = this.startEnergy;
    return [
      exact.energy,
      distributed.energy,
      Math.sqrt(squaredDistance(this.x, this.xHat)),
      this.drift.local,
      this.drift.law,
      step === 0 ? -Infinity : printedBound({ ...config, K, energy, steps: step }),
      distributed.S,
      distributed.floored ? 1 : 0,
      argmin(dx),
      argmin(dHat),
      meanError(this.x, config.truth, config.free, geometry.freedom),
      meanError(this.xHat, config.truth, config.free, geometry.freedom),
    ];
  }

  /** Both states as bytes, one after the other. */
  pixels(bytes) {
    const { D } = this.config;
    toBytes(this.x, bytes.subarray(0, D));
    toBytes(this.xHat, bytes.subarray(D, 2 * D));
  }
}

function descend(x, gradient, eta, free) {
  for (let i = 0; i < x.length; i++) if (!free || free[i]) x[i] -= eta * gradient[i];
}

const argmin = (d) => d.indexOf(Math.min(...d));

function meanError(x, truth, free, freedom) {
  const all = !free || freedom === 0; // where nothing is free, what is held is what is judged
  let total = 0;
  for (let i = 0; i < x.length; i++) if (all || free[i]) total += Math.abs(x[i] - truth[i]);
  return (total / (all ? x.length : freedom)) * Math.sqrt(x.length);
}

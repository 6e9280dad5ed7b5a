// Reads jobs as JSON on stdin, runs the widgets' mathematics on them, writes the results as JSON on stdout.
// The other half is test_retrieval.py.
import { readFileSync } from "node:fs";
import * as random from "../../frontend/kit/random.js";
import { Geometry, printedBound } from "../../frontend/retrieval/math/bounds.js";
import { DistributedMemory } from "../../frontend/retrieval/math/distributed.js";
import { ExactMemory } from "../../frontend/retrieval/math/exact.js";
import { HadamardFeatures } from "../../frontend/retrieval/math/features.js";
import { gauge, slopeRatio } from "../../frontend/retrieval/math/gauge.js";
import { randomPictures } from "../../frontend/retrieval/math/patterns.js";
import { Keeper } from "../../frontend/retrieval/keeper.js";
import { PRESETS } from "../../frontend/retrieval/presets.js";
import { Library, noPaint, prepare } from "../../frontend/retrieval/settings.js";
import { FIELDS } from "../../frontend/retrieval/simulation.js";

const f32 = (values) => Float32Array.from(values);

const jobs = {
  random({ seed, n }) {
    const k = random.key(seed);
    return {
      split: random.split(k, 3).map((pair) => pair.map((word) => word >>> 0)),
      bits: [...random.bits(k, n)],
      uniform: [...random.uniform(k, n)],
      normal: [...random.normal(k, n)],
      tail: [...random.bits(k, n, n - 5)],
    };
  },
  pictures: ({ n, size, seed }) => randomPictures(n, size, seed).map((p) => [...p]),
  memory({ patterns, state, beta, Y, seed, basis }) {
    const Xi = patterns.map(f32);
    const features = new HadamardFeatures({ D: Xi[0].length, Y, seed, basis });
    const memory = DistributedMemory.store(Xi, beta, features);
    return { ...look(memory, f32(state)), ...exact(Xi, beta, f32(state)), T: [...memory.T] };
  },
  edit({ patterns, beta, Y, seed, basis }) {
    const Xi = patterns.map(f32);
    const features = new HadamardFeatures({ D: Xi[0].length, Y, seed, basis });
    const memory = DistributedMemory.store(Xi.slice(1), beta, features);
    memory.add(Xi[0]);
    memory.remove(Xi[1]);
    return [...memory.T];
  },
  retrieve({ patterns, query, clamp, steps, ...config }) {
    const Xi = patterns.map((p, i) => ({ id: i, values: f32(p) }));
    const D = query.length;
    const free = clamp ? Uint8Array.from(clamp, (held) => (held ? 0 : 1)) : null;
    const target = Xi[0].values;
    const more = { D, patterns: Xi, query: f32(query), free, target, truth: target };
    const simulation = new Keeper().begin({ ...config, ...more });
    const records = [simulation.record()];
    for (let t = 0; t < steps; t++) {
      simulation.advance();
      records.push(simulation.record());
    }
    return { start: simulation.info, fields: FIELDS, records, x: [...simulation.x], xHat: [...simulation.xHat] };
  },
  laws({ patterns, state, beta, free, eta }) {
    const Xi = patterns.map(f32);
    const geometry = new Geometry(Xi, beta, free ? Uint8Array.from(free) : null);
    const memory = new ExactMemory(Xi, beta);
    memory.energyGradient(f32(state), new Float32Array(state.length));
    const d = memory.distances;
    return {
      V: geometry.variance(d),
      MA: geometry.gradientError(d, free ? geometry.freeDistances(f32(state)) : d),
      rho: geometry.contraction(memory.weights, eta),
    };
  },
  printed: (setting) => printedBound(setting),
  presets({ photographs, names, most }) {
    const library = new Library(Uint8Array.from(photographs), names);
    const keeper = new Keeper();
    const figure1 = PRESETS.find(({ key }) => key === "figure1").set;
    const runs = [
      ...PRESETS,
      { key: "figure1 with coffee", set: { ...figure1, target: names.indexOf("coffee") } },
      { key: "figure1 with grey", set: { ...figure1, fill: "grey" } },
    ];
    return runs.map(({ key, set }) => ({ key, ...runPreset(keeper, library, set, most) }));
  },
  gauge({ patterns, query, beta, Y, seed, basis, free, eta }) {
    const Xi = patterns.map(f32);
    const features = new HadamardFeatures({ D: Xi[0].length, Y, seed, basis });
    const memory = DistributedMemory.store(Xi, beta, features);
    const { S } = look(memory, f32(query));
    return gauge({ T: memory.T, S, basis, free, eta });
  },
  slopes: ({ heights, c }) => heights.map((height) => slopeRatio(height, c)),
};

function runPreset(keeper, library, settings, most) {
  const ready = prepare(settings, library, noPaint(settings.size));
  const patterns = ready.config.ids.map((id) => ({ id, values: ready.pictures.get(id) }));
  const simulation = keeper.begin({ ...ready.config, patterns });
  for (let t = 0; t < Math.min(settings.steps, most); t++) simulation.advance();
  const end = Object.fromEntries(simulation.record().map((v, i) => [FIELDS[i], v]));
  return { ...simulation.info, ...end, wanted: ready.wanted, numbers: ready.numbers };
}

function look(memory, state) {
  const gradient = new Float32Array(state.length);
  const { energy, S, floored } = memory.energyGradient(state, gradient);
  return { energy, S, floored, gradient: [...gradient] };
}

function exact(Xi, beta, state) {
  const gradient = new Float32Array(state.length);
  const { energy } = new ExactMemory(Xi, beta).energyGradient(state, gradient);
  return { exactEnergy: energy, exactGradient: [...gradient] };
}

const [name, job] = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(
  JSON.stringify(jobs[name](job), (_, v) => (v === -Infinity ? null : v)),
);

// Runs jobs of the retrieval explorer's mathematics, which `reply` in tests/node.py sends.
// The other half is test_retrieval.py.
import * as random from "../../frontend/math/random.js";
import { Geometry, printedBound } from "../../frontend/math/bounds.js";
import { anatomy } from "../../frontend/retrieval/math/anatomy.js";
import { DistributedMemory } from "../../frontend/math/distributed.js";
import { ExactMemory } from "../../frontend/math/exact.js";
import { HadamardFeatures } from "../../frontend/math/features.js";
import { gauge, slopeRatio } from "../../frontend/retrieval/math/gauge.js";
import { randomBits } from "../../frontend/math/patterns.js";
import { Foresight, foreseenError, noiseEdge } from "../../frontend/retrieval/math/phase.js";
import { initialSettings } from "../../frontend/retrieval/change.js";
import { look as taken, States } from "../../frontend/retrieval/machinestates.js";
import { BOUNDS, Drift } from "../../frontend/retrieval/drift.js";
import { measured } from "../../frontend/retrieval/errormap.js";
import { Keeper } from "../../frontend/retrieval/keeper.js";
import { Library } from "../../frontend/retrieval/library.js";
import { presetsFor } from "../../frontend/retrieval/presets.js";
import { python } from "../../frontend/retrieval/python.js";
import { findings, isBlend } from "../../frontend/retrieval/report.js";
import { closeness, isNearest } from "../../frontend/retrieval/runwords.js";
import { explain } from "../../frontend/retrieval/sentence.js";
import { noPaint, prepare } from "../../frontend/retrieval/settings.js";
import { unpacked } from "../../frontend/kit/sheet.js";
import { FIELDS, stays } from "../../frontend/retrieval/simulation.js";
import { strengthsOf } from "../../frontend/retrieval/strengths.js";
import { named } from "../../frontend/retrieval/timeline.js";

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
  bits: ({ K, n, seed }) => randomBits(K, n, seed).map((p) => [...p]),
  async sheet({ packed, side, top }) {
    const { values } = await unpacked(Uint8Array.from(packed), side, top);
    return [...values];
  },
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
  first({ patterns, state, beta, Y, part, seed, basis }) {
    const Xi = patterns.map(f32);
    const features = new HadamardFeatures({ D: Xi[0].length, Y, seed, basis });
    const memory = DistributedMemory.store(Xi, beta, features).first(part);
    return { ...look(memory, f32(state)), T: [...memory.T] };
  },
  retrieve({ patterns, query, clamp, steps, ...config }) {
    const Xi = patterns.map((p, i) => ({ id: i, values: f32(p) }));
    const D = query.length;
    const free = clamp ? Uint8Array.from(clamp, (held) => (held ? 0 : 1)) : null;
    const freedom = free ? free.reduce((n, f) => n + f, 0) : D;
    const more = { D, patterns: Xi, query: f32(query), free, freedom, truth: Xi[0].values, wanted: 0 };
    const simulation = new Keeper().begin({ ...config, ...more, steps, bits: false, shown: 3 * D });
    const drift = new Drift(simulation);
    const record = () => [...simulation.record(), ...drift.record(simulation)];
    const records = [record()];
    for (let t = 0; t < steps; t++) {
      drift.advance(simulation);
      simulation.advance();
      records.push(record());
    }
    const fields = [...FIELDS, ...BOUNDS];
    return { start: simulation.info, fields, records, x: [...simulation.x], xHat: [...simulation.xHat] };
  },
  anatomy({ patterns, state, beta, Y, seed, frequency }) {
    const Xi = patterns.map(f32);
    const features = new HadamardFeatures({ D: Xi[0].length, Y, seed });
    const memory = DistributedMemory.store(Xi, beta, features);
    const { weights, phases, running, gradient, ...read } = anatomy(memory, Xi, f32(state), frequency);
    const lists = { weights, phases, running, gradient };
    const plain = Object.entries(lists).map(([name, list]) => [name, [...list]]);
    return { ...read, ...Object.fromEntries(plain) };
  },
  machine({ patterns, query, clamp, steps, most, frequency, ...config }) {
    const Xi = patterns.map((p, i) => ({ id: i, values: f32(p) }));
    const D = query.length;
    const free = Uint8Array.from(clamp, (held) => (held ? 0 : 1));
    const freedom = free.reduce((n, f) => n + f, 0);
    const more = { D, patterns: Xi, query: f32(query), free, freedom, truth: Xi[0].values, wanted: 0 };
    const simulation = new Keeper().begin({ ...config, ...more, steps, bits: false, shown: D });
    const states = new States(most);
    states.push(simulation);
    while (!simulation.done) {
      simulation.advance();
      states.push(simulation);
    }
    const all = Array.from({ length: simulation.step + 1 }, (_, t) => t);
    return {
      kept: states.kept.size,
      states: all.map((t) => [...states.at(t, simulation)]),
      looks: all.map((t) => {
        const { state, next, exact, S, atRest } = taken(simulation, states, t, frequency);
        return { state: [...state], next: [...next], exact, S, atRest };
      }),
      beyond: states.at(simulation.step + 1, simulation),
    };
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
  async presets({ sheet, names }) {
    const library = await libraryOf(sheet, names);
    const keeper = new Keeper();
    const presets = presetsFor(library);
    const set = (key) => presets.find((preset) => preset.key === key).set;
    const runs = [
      ...presets,
      { key: "figure1 with coffee", set: { ...set("figure1"), target: names.indexOf("coffee") } },
      { key: "figure1 with grey", set: { ...set("figure1"), fill: "grey" } },
      { key: "threshold at fifty", set: { ...set("threshold"), K: 50 } },
      { key: "figure3 at fifty", set: { ...set("figure3"), beta: 50 } },
      { key: "all covered", set: { ...set("start"), fraction: 1 } },
      { key: "threshold at 2DK", set: { ...set("threshold"), Y: 40_000 } },
      { key: "nothing hidden", set: { ...set("start"), target: 2, fraction: 0 } },
      { key: "far", set: { ...set("start"), fraction: 0.9 } },
      { key: "cut short", set: { ...set("start"), K: 24, beta: 90 } },
      { key: "raised", set: { ...set("start"), K: 24, beta: 118 } },
      { key: "raised with Y", set: { ...set("start"), K: 24, beta: 118, Y: 200_000 } },
      { key: "far bits", set: { ...set("start"), ...BITS, flips: 0.2 } },
      { key: "near bits", set: { ...set("start"), ...BITS, flips: 0.1 } },
      { key: "longer", set: { ...set("start"), K: 24, beta: 90, steps: 100 } },
      { key: "overflow", set: { ...set("start"), basis: "exp" } },
    ];
    return runs.map(({ key, set, after, predict }) => {
      const run = runOf(keeper, library, set);
      const told = after?.(run);
      return { key, ...run, told, sentence: explain(run, set), right: predict?.right(run) ?? null };
    });
  },
  async python({ sheet, names, cases }) {
    const library = await libraryOf(sheet, names);
    return cases.map((given) => {
      const settings = initialSettings(given, library);
      const { both, steps } = runOf(new Keeper(), library, settings);
      return { text: python(settings), exact: both.exact.error, distributed: both.distributed.error, steps };
    });
  },
  async verdicts({ sheet, names, cases }) {
    const library = await libraryOf(sheet, names);
    return cases.map((given) => {
      const { both } = runOf(new Keeper(), library, initialSettings(given, library));
      return [both.exact.right, both.distributed.right];
    });
  },
  async map({ sheet, names, settings: given, betas, Ys }) {
    const library = await libraryOf(sheet, names);
    const settings = initialSettings(given, library);
    const { config, pictures } = prepare(settings, library, noPaint(settings.size));
    const columns = betas.map((beta) => ({ beta, ids: config.ids }));
    const order = betas.flatMap((_, i) => Ys.map((_, j) => [i, j]));
    const cells = [];
    const patternOf = (id) => ({ id, values: pictures.get(id) });
    for (const _ of measured({ config, columns, Ys, order }, new Keeper(), patternOf, (cell) => cells.push(cell)));
    const alone = cells.map(([i, j]) => {
      const one = { ...settings, beta: betas[i], Y: Ys[j] };
      return runOf(new Keeper(), library, one).both.distributed.error;
    });
    const foresight = new Foresight({ ...config, patterns: config.ids.map((id) => pictures.get(id)) });
    const { D, freedom } = config;
    const setting = { D, freedom, eta: settings.eta, paired: true, lost: 0.4 };
    const foreseen = betas.map((beta) => {
      const column = foresight.column(beta);
      const errors = Ys.map((Y) => foreseenError(column, Y, setting));
      return { ...column, edge: noiseEdge(column, setting), errors };
    });
    const exact = betas.map((beta) => runOf(new Keeper(), library, { ...settings, beta }).both.exact);
    return { cells, alone, foreseen, exact };
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

const BITS = { collection: "bits", size: 10, fraction: 0, clamp: false, K: 50, beta: 50, Y: 20_000 };

const libraryOf = async ({ packed, side, top }, names) =>
  new Library(await unpacked(Uint8Array.from(packed), side, top), names);

const MOST = 120; // steps; with a step size of 0.1, 3e-6 of the way then remains

/** A run to its end, and the page's findings about it. */
function runOf(keeper, library, settings) {
  const ready = prepare(settings, library, noPaint(settings.size));
  const patterns = ready.config.ids.map((id) => ({ id, values: ready.pictures.get(id) }));
  const simulation = keeper.begin({ ...ready.config, patterns });
  while (!simulation.done && simulation.step < MOST) simulation.advance();
  const { rests } = simulation;
  const { overflow, info, step } = simulation;
  const both = findings(named(simulation.record()), settings, ready, library, overflow);
  const { freedom, numbers, stored, isStored } = ready;
  const { pull, roughness } = info;
  const isSeparate = isBlend(both.exact) && stays(ready.config, ready.patterns);
  const strengths = strengthsOf(settings, ready, new Foresight({ ...ready.config, patterns: ready.patterns }));
  const near = closeness(ready.config);
  return { pull, roughness, closeness: near, isNearest: isNearest(ready), strengths, both, freedom, numbers, K: stored.length, isStored, rests, isSeparate, overflow, steps: step };
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

export const answer = ([name, job]) => jobs[name](job);

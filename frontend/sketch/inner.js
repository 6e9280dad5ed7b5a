// The inner step of meta-training: the reader drags the task, and one gradient step moves the network towards it
// [M-def].
import RULES from "../../src/rankone_book/widgets/settings/sketch.json" with { type: "json" };
import { dots } from "../kit/dots.js";
import { fieldsOf } from "../kit/fields.js";
import { handle } from "../kit/handle.js";
import { bounded, figures, fixed } from "../kit/number.js";
import { slider } from "../kit/slider.js";

/** @import { Data } from "../kit/chart.js" */
/** @import { Sketch } from "./sketch.js" */

/** Weights (width, inputs) and biases (width) of a layer. @typedef {{ W: number[][], b: number[] }} Layer */
/**
 * @typedef {{ amplitude: number, phase: number, steps: number, layers: Layer[], stepSize: number, x: number[] }} Settings
 */

/**
 * The input of every layer, followed by the outputs, of a network with ReLUs between its layers.
 *
 * @type {(layers: Layer[], x: number) => number[][]}
 */
function forward(layers, x) {
  const all = [[x]];
  layers.forEach(({ W, b }, l) => {
    const inputs = all[l];
    const last = l === layers.length - 1;
    const width = b.length;
    const out = new Array(width);
    for (let i = 0; i < width; i++) {
      let sum = b[i];
      for (let j = 0; j < inputs.length; j++) sum += W[i][j] * inputs[j];
      out[i] = last ? sum : Math.max(0, sum);
    }
    all.push(out);
  });
  return all;
}

/** @type {(layers: Layer[], x: number) => number} */
export const predict = (layers, x) => forward(layers, x)[layers.length][0];

/**
 * The layers after one gradient step on the mean squared error of the examples.
 *
 * @type {(layers: Layer[], x: number[], y: number[], stepSize: number) => Layer[]}
 */
export function step(layers, x, y, stepSize) {
  const next = layers.map(({ W, b }) => ({ W: W.map((row) => [...row]), b: [...b] }));
  x.forEach((at, n) => {
    const all = forward(layers, at);
    let error = [(2 * (all[layers.length][0] - y[n])) / x.length];
    for (let l = layers.length - 1; l >= 0; l--) {
      const inputs = all[l];
      const back = new Array(inputs.length).fill(0);
      error.forEach((e, i) => {
        if (e === 0) return;
        for (let j = 0; j < inputs.length; j++) {
          back[j] += e * layers[l].W[i][j];
          next[l].W[i][j] -= stepSize * e * inputs[j];
        }
        next[l].b[i] -= stepSize * e;
      });
      error = back.map((v, j) => (inputs[j] > 0 ? v : 0));
    }
  });
  return next;
}

const wave = (/** @type {Settings} */ { amplitude, phase }, /** @type {number} */ x) =>
  amplitude * Math.sin(x - phase);
const places = Array.from({ length: 121 }, (_, i) => -5 + i / 12);

/** The network after the steps, and its mean squared errors on a grid before and after. @param {Settings} settings */
export function learn(settings) {
  const { x, steps, stepSize } = settings;
  const y = x.map((at) => wave(settings, at));
  let layers = settings.layers;
  for (let t = 0; t < steps; t++) layers = step(layers, x, y, stepSize);
  const [before, after] = [settings.layers, layers].map((net) =>
    places.map((at) => predict(net, at)),
  );
  const off = (/** @type {number[]} */ line) =>
    line.reduce((sum, v, i) => sum + (v - wave(settings, places[i])) ** 2, 0) / line.length;
  return { y, before, after, errors: [off(before), off(after)] };
}

/** @type {Sketch<Settings>} */
export const inner = {
  name: "inner",
  defaults: {
    amplitude: 3,
    phase: 1,
    steps: 1,
    layers: [{ W: [[0]], b: [0] }],
    stepSize: 0.001,
    x: [-4, -2.2, -0.5, 1.6, 3.8],
  },
  rules: RULES.inner,
  questions: [
    {
      key: "one",
      name: "One step",
      ask: "Grey: the network as meta-training left it. Drag the wave’s crest: five dots, one gradient step, and the whole curve moves. Which waves does it reach best?",
      after: ({ words }) => words,
      set: { steps: 1 },
    },
    {
      key: "more",
      name: "More steps",
      ask: "The network was meta-trained for five steps. Do ten and twenty still help, on five points?",
      after: ({ words }) => words,
      set: { steps: 20 },
    },
  ],
  chart: {
    title: "A meta-trained network before and after its steps",
    x: { label: "x" },
    y: { label: "y" },
    series: [
      { key: "wave", label: "the task", tone: "law", dash: "7 3" },
      { key: "before", label: "before", tone: "quiet", dash: "2 3" },
      { key: "after", label: "after the steps", tone: "distributed" },
      { key: "examples", label: "its five examples", tone: "exact", r: 4, pen: dots },
    ],
    interactive: true,
  },
  fields(settings, change) {
    const of = fieldsOf(settings, change);
    return {
      steps: slider({ ...of("steps"), label: "gradient steps", min: 0, max: 20 }),
    };
  },
  show(settings) {
    const { y, before, after, errors } = learn(settings);
    /** @type {(line: number[]) => Data} */
    const over = (line) => places.map((at, i) => [at, line[i]]);
    const lines = {
      wave: over(places.map((at) => wave(settings, at))),
      before: over(before),
      after: over(after),
      examples: /** @type {Data} */ (settings.x.map((at, n) => [at, y[n]])),
    };
    const { steps } = settings;
    return {
      drawing: { lines, x: [-5, 5], y: [-5.5, 5.5] },
      words: `Mean squared error over the interval: ${figures(errors[0])} before, ${figures(errors[1])} after ${steps} ${steps === 1 ? "step" : "steps"}.`,
      rows: [
        ["Error before", figures(errors[0])],
        [`Error after ${steps} ${steps === 1 ? "step" : "steps"}`, figures(errors[1])],
        ["Amplitude A", fixed(settings.amplitude)],
        ["Phase φ", fixed(settings.phase)],
      ],
    };
  },
  after(drawn, change) {
    const quarter = Math.PI / 2;
    const grip = handle({
      svg: drawn.svg,
      space: drawn.space,
      x: [quarter, 3 * quarter],
      y: [0.1, 5],
      step: [0.1, 0.1],
      id: "crest",
      onMove: ([x, amplitude]) => change({ amplitude, phase: bounded(x - quarter, 0, Math.PI) }),
    });
    drawn.svg.append(grip.element);
    return ({ amplitude, phase }) =>
      grip.place({
        at: [phase + quarter, amplitude],
        name: "Crest of the wave",
        words: `amplitude ${fixed(amplitude)}, phase ${fixed(phase)}`,
        tone: "law",
        r: 8,
      });
  },
};

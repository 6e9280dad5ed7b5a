// Recorded edits of a language model: the change of a neighbour's answer against the share of δ that its key gets.
import RULES from "../../src/rankone_book/widgets/settings/sketch.json" with { type: "json" };
import { select } from "../kit/controls.js";
import { dots } from "../kit/dots.js";
import { fixed } from "../kit/number.js";

/** @import { Data } from "../kit/chart.js" */
/** @import { Sketch } from "./sketch.js" */

/** The neighbour's name, its share u·k/s, and the new answer's lead over the true one before and after the edit. */
/** @typedef {[name: string, share: number, before: number, after: number]} Neighbour */
/** @typedef {{ name: string, target: string, neighbours: Neighbour[] }} Fact */
/** @typedef {{ fact: number, facts: Fact[] }} Settings */

const rise = (/** @type {Neighbour} */ [, , before, after]) => after - before;
const turned = (/** @type {Neighbour} */ [, , before, after]) => before <= 0 && after > 0;

/**
 * Spearman's rank correlation; equal values get their mean rank.
 *
 * @type {(a: number[], b: number[]) => number}
 */
export function rankCorrelation(a, b) {
  const [x, y] = [ranks(a), ranks(b)];
  const middle = (a.length - 1) / 2;
  const product = (/** @type {number[]} */ u, /** @type {number[]} */ v) =>
    u.reduce((sum, one, i) => sum + (one - middle) * (v[i] - middle), 0);
  return product(x, y) / Math.sqrt(product(x, x) * product(y, y));
}

/** @param {number[]} values */
const ranks = (values) =>
  values.map((v) => {
    const below = values.filter((w) => w < v).length;
    const equal = values.filter((w) => w === v).length;
    return below + (equal - 1) / 2;
  });

/** @type {Sketch<Settings>} */
export const neighbours = {
  name: "neighbours",
  defaults: { fact: 0, facts: [] },
  rules: RULES.neighbours,
  questions: [
    {
      key: "first",
      name: "Share and damage",
      ask: "One dot for each neighbour of each recorded edit of a capital. Does a larger share of δ move the answer further? Pick an edit and read its six neighbours.",
      after: ({ words }) => words,
      set: {},
    },
  ],
  chart: {
    title: "Rise of the new answer’s lead at a neighbour, against its key’s share of δ",
    x: { label: "share of δ, u·k/s" },
    y: { label: "rise of the new answer’s lead, nats" },
    series: [
      { key: "all", label: "all neighbours", tone: "quiet", r: 2.5, pen: dots },
      { key: "turned", label: "answer flipped", tone: "law", r: 3.5, pen: dots },
      { key: "own", label: "of the edit picked", tone: "distributed", r: 5, pen: dots },
    ],
  },
  next: (settings) => ({
    ...settings,
    fact: Math.max(0, Math.min(settings.facts.length - 1, Math.round(Number(settings.fact) || 0))),
  }),
  fields(settings, change) {
    return {
      fact: select({
        label: "Edit",
        name: "fact",
        options: settings.facts.map(({ name, target }, i) => [i, `${name}: ${target}`]),
        value: settings.fact,
        onInput: (i) => change({ fact: Number(i) }),
      }),
    };
  },
  show({ fact, facts }) {
    const own = facts[fact]?.neighbours ?? [];
    const all = facts.flatMap((one) => one.neighbours);
    /** @type {(points: Neighbour[]) => Data} */
    const placed = (points) => points.map((one) => [one[1], rise(one)]);
    const shares = all.map(([, share]) => share);
    const [low, high] = [Math.min(0, ...shares), Math.max(0.1, ...shares)];
    const order = rankCorrelation(shares, all.map(rise));
    const lost = all.filter(turned).length;
    return {
      drawing: {
        lines: { all: placed(all), turned: placed(all.filter(turned)), own: placed(own) },
        x: [low, high + 0.02],
      },
      words: `Over ${all.length} neighbours of ${facts.length} edits the ranks of share and rise correlate by ${fixed(order)}; ${lost} answers flip.`,
      rows: own.map((one) => [
        `${one[0]}, share ${fixed(one[1])}`,
        `lead ${fixed(one[2], 1)} → ${fixed(one[3], 1)}${turned(one) ? ", flipped" : ""}`,
      ]),
    };
  },
};

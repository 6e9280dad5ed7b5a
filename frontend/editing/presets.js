// Settings posed as questions; each leads to a place where something fails. `after` gets the consequences of the
// question's own setting.
import { posed } from "../kit/explorer.js";
import { figures } from "../kit/number.js";
import { dot, norm } from "../math/linear.js";
import { cloud, settingsFrom } from "./settings.js";

/** @import { Preset } from "../kit/explorer.js" */
/** @import { Point } from "../kit/handle.js" */
/** @import { Consequences, Settings } from "./settings.js" */

/** @type {Point[]} */
const line = Array.from({ length: 9 }, (_, i) => [0.5 * (i - 4), 0.25 * (i - 4)]);
/** @type {(k: Point, v: Point) => { k: Point, v: Point }} */
const pair = (k, v) => ({ k, v });
const two = [pair([1.6, 0.3], [0.4, 1.8]), pair([1.2, 1.1], [-1.5, 0.6])];

/** `own`: true if the reader has not changed the question's setting. */
/** @typedef {Consequences & { own: boolean }} Found */

/** @type {(found: Found) => string} */
const ofFactor = ({ total, least }) => {
  const factor = total / least;
  return factor < 1.1 ? "same" : factor < 3 ? "some" : "many";
};
/** @type {[string, string][]} */
const FACTORS = [
  ["same", "It is the least"],
  ["some", "Up to 3 times the least"],
  ["many", "More than 3 times the least"],
];

/** @type {Preset<Partial<Settings>, Found>[]} */
const QUESTIONS = [
  {
    key: "start",
    name: "Which keys does an edit change?",
    ask: "Ŵ answers v* at k*. Drag v*, then k*: where would a key have to lie for its output not to move?",
    predict: {
      options: [
        ["nowhere", "Nowhere: every output moves"],
        ["line", "On a line through the origin"],
        ["far", "Far from k*"],
      ],
      right: ({ edit }) => edit && "line",
    },
    after: ({ total, lawTotal }) =>
      `Outputs move only parallel to r: that of key j by ‖r‖·|uᵀkⱼ|/s, forwards or backwards. A key on the dashed line has uᵀk = 0, and its output would not move. The interference, the sum of squared changes, is measured as ${figures(total)}, and predicted by ‖r‖²/s as ${figures(lawTotal)}. No other Ŵ with Ŵk* = v* has less.`,
    set: {},
  },
  {
    key: "identity",
    name: "Does the geometry matter?",
    ask: "The same pair is now written with C = I, by one plain gradient step. How does its interference compare with the least possible?",
    predict: { options: FACTORS, right: ofFactor },
    after: ({ total, least }) =>
      `It is ${figures(total / least)} times the least. Drag k* onto an axis of the cloud and the factor falls to 1: there u points the same way in both geometries. At worst it is (1 + κ)²/4κ, κ the condition number of C.`,
    set: { geometry: "identity" },
  },
  {
    key: "member",
    name: "What if k* is stored already?",
    ask: "k* is now one of the keys. Its own output must change. Is the interference on the other keys larger or smaller than that change?",
    predict: {
      options: [
        ["more", "Larger"],
        ["less", "Smaller"],
      ],
      right: ({ total, residual: [a, b] }) => (total > 2 * (a * a + b * b) ? "more" : "less"),
    },
    after: ({ total, residual, leverage }) => {
      const r2 = residual[0] ** 2 + residual[1] ** 2;
      return `Its leverage is h = s = ${figures(leverage)}. The interference is ‖r‖²/h = ${figures(total)} over all keys and ‖r‖²(1/h − 1) = ${figures(total - r2)} over the others, against ${figures(r2)} at the key itself. Beyond h = ½ the others have less. Drag k* onto an outer key to raise h.`;
    },
    set: { k: cloud(12, 4)[2] },
  },
  {
    key: "few",
    name: "Do three keys suffice for C?",
    ask: "C is estimated from the first three keys only, and interference is counted on all twelve. How does it compare with the least possible?",
    predict: { options: FACTORS, right: ofFactor },
    after: ({ total, least }) =>
      `It is ${figures(total / least)} times the least. The constraint still holds exactly, as it does for any u with uᵀk* ≠ 0. Only the interference grows. In D dimensions m Gaussian keys for C multiply it by (m − 1)/(m − D) on average. Raise ‘keys used for C’, or add a little ridge.`,
    set: { used: 3, k: [1.4, 1.2] },
  },
  {
    key: "line",
    name: "Can an edit cost nothing?",
    ask: "All keys lie on a line and k* does not. There is an edit that moves none of their outputs. Does the pseudo-inverse find it?",
    predict: {
      options: [
        ["found", "Yes: no output moves"],
        ["missed", "No: they move"],
      ],
      right: ({ total }) => (total < 1e-6 ? "found" : "missed"),
    },
    after: ({ total }) =>
      `No: its interference is ${figures(total)}, and u stays on their line. Choose ‘C = Σkkᵀ’ and a ridge of 0.001: u turns to the part of k* that is orthogonal to all keys, and the interference on these keys vanishes.`,
    set: { keys: line, used: 9, k: [0.5, 1.6], geometry: "pinv" },
  },
  {
    key: "ridge",
    name: "What does a large ridge do?",
    ask: "A ridge of 100 has been added to C. What has the edit turned into?",
    predict: {
      options: [
        ["none", "Into no edit at all"],
        ["gradient", "Into a plain gradient step"],
        ["least", "It still has the least interference"],
      ],
      right: ({ edit, k }) => {
        if (!edit) return "none";
        const cosine = dot(edit.right, k) / (norm(edit.right) * norm(k));
        return cosine > 0.98 ? "gradient" : "least";
      },
    },
    after: ({ total, least }) =>
      `Almost into the plain gradient step: u is nearly parallel to k*, and the interference is ${figures(total / least)} times the least. A ridge helps if C comes from too few keys; with all of them it only adds interference. Lower it and watch the factor.`,
    set: { ridge: 100 },
  },
  {
    key: "third",
    name: "Does an edit undo earlier ones?",
    ask: "Two pairs have been written, one after the other, and a third is ready at k*. Which of the two does W still answer?",
    predict: {
      options: [
        ["both", "Both"],
        ["later", "Only the later one"],
        ["neither", "Neither"],
      ],
      right: ({ past }) => {
        const [first, second] = past[2].map((left) => left < 1e-6);
        return first && second ? "both" : second ? "later" : "neither";
      },
    },
    after: ({ past }) =>
      `The second edit has moved the first answer by ${figures(past[2][0])}. Keep the third edit too, and it moves both answers: a 2 × 2 matrix can give two such keys their values, but in general not three. With β above 0 a kept key enters C and later edits move its output less, with more interference on the other keys.`,
    set: { pairs: two, order: [0, 1], k: [-0.6, 1.3], v: [1.5, 0.4] },
  },
  {
    key: "cycle",
    name: "Where do repeated edits settle?",
    ask: "Two pairs are written in turn, again and again, with C unchanged. Where does W settle, and how fast?",
    predict: {
      options: [
        ["settles", "Where it answers both"],
        ["between", "Halfway between them"],
        ["never", "It never settles"],
      ],
      right: ({ cosine }) => (cosine === null ? null : cosine < 1 - 1e-9 ? "settles" : "never"),
    },
    after: ({ cosine }) =>
      `W settles on the batch edit, which answers both pairs: each round leaves cos²θ = ${figures(cosine ?? 0)} of the error, θ the angle of the two keys in the geometry of C⁻¹. This is Kaczmarz’s method. Choose C = I: faster or slower?`,
    set: { pairs: two, order: [0, 1, 0, 1, 0, 1, 0, 1], k: [-0.6, 1.3], v: [1.5, 0.4] },
  },
];

/** An answer is about the setting of its question, even if the reader has changed the setting since. */
const answers = QUESTIONS.map((question) => ({
  ...question,
  after: (/** @type {Found} */ shown) =>
    (shown.own ? "" : "In the question’s own setting: ") + question.after(shown),
}));

export const PRESETS = posed(answers, settingsFrom);

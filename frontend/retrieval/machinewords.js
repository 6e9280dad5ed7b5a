// What the machine says at each of its levels, with the numbers that it shows.
import { count, figures, fixed } from "../kit/number.js";

/** @import { Look } from "./machinestates.js" */

/**
 * What a level needs beside the look: the sizes of the memory, and how far the run goes.
 *
 * @typedef {{
 *   D: number,
 *   K: number,
 *   Y: number,
 *   beta: number,
 *   freedom: number,
 *   bits: boolean,
 *   steps: number,
 *   ids: string[],
 *   patterns: Float32Array[],
 *   labels: string[],
 * }} Context
 */

export const WAITING = "This step is being computed.";
export const OTHER_BASIS =
  "This view explains cosines and sines. Choose “sincos” as the features, under “More”.";

/** Names of the levels, from the outside in. */
export const LEVELS = ["Frequency", "Waves", "T", "Ŝ", "Step"];

/** @type {(K: number, bits: boolean) => string} */
const pictures = (K, bits) =>
  `${count(K)} stored ${bits ? "pattern" : "picture"}${K === 1 ? "" : "s"}`;

/** @param {Look} look */
const nameOf = ({ frequency }) => `Frequency ${count(frequency + 1)}`;

/** A level's sentence. @type {((look: Look, context: Context) => string)[]} */
const SENTENCES = [
  (look, { D, beta }) =>
    `${nameOf(look)} multiplies each of the ${count(D)} numbers of this picture by a random weight. The products add up, and √β = ${fixed(Math.sqrt(beta))} times their sum is the phase, ${fixed(look.phase)}.`,
  (look) =>
    `The vector reads a picture only through waves. At the phase ${fixed(look.phase)}, the cosine is ${fixed(Math.cos(look.phase))} and the sine is ${fixed(Math.sin(look.phase))}. Small dots mark the stored pictures.`,
  ({ entry }, { K, bits }) =>
    `T holds one sum of cosines and one sum of sines for this frequency. The ${pictures(K, bits)} add up to ${fixed(entry.cos)} and ${fixed(entry.sin)}, and T keeps both sums divided by √Y. No single term can be read from a sum.`,
  (look, { Y }) =>
    `State and sums are multiplied: cosine by cosine, plus sine by sine. ${nameOf(look)} gives ${fixed(look.part)}, and the mean over all ${count(Y)} is Ŝ = ${figures(look.S)}. The list would give S = ${figures(look.exact)}.${look.floored ? " So small an Ŝ is noise." : ""}`,
  (look, { freedom }) =>
    look.atRest
      ? "The vector’s answer is at rest: a further step would move no pixel by a quarter of a grey level."
      : `The slope says which way log Ŝ rises. The step follows it and moves ${count(freedom)} numbers, by ${figures(look.moved, 2)} of the grey scale on average. The known pixels stay.`,
];

/** @type {(level: number, look: Look, context: Context) => string} */
export const sentenceOf = (level, look, context) => SENTENCES[level](look, context);

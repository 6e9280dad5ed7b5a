// A question on show: posed, guessed at, answered. What would tell its answer may be hidden until the reader has guessed.
import { reducedMotion } from "./clock.js";
import { score } from "./prediction.js";
import { createQuestions } from "./questions.js";

/** @import { Preset } from "./presets.js" */
/** @import { Offer } from "./questions.js" */

const OWN = "Your own settings. A question sets all the sliders anew.";

/**
 * `choose(preset)` is told what the reader presses; `reveal()` that what was hidden is to be drawn; `findings()` is
 * what the answer is told, null while it is not known.
 *
 * @template {object} S
 * @template F
 * @param {{
 *   presets: Preset<S, F>[],
 *   offer?: Offer,
 *   preset: Preset<S, F> | null,
 *   choose(preset: Preset<S, F>): void,
 *   reveal(): void,
 *   findings(): F | null,
 * }} own
 */
export function createAsking({ presets, offer, preset, choose, reveal, findings }) {
  let pending = false; // what would tell the answer is hidden
  let asked = false; // the answer waits for the reader's guess
  let awaited = false; // the answer to the reader's guess has not come into view yet
  /** @type {string | null} */
  let guess = null;
  const questions = createQuestions(presets, { choose, guess: decide }, offer);
  if (preset) questions.mark(preset.key, preset.ask); // from the start: nothing moves when it is posed

  /** @param {string | null} choice The reader's guess; null is only a wish to see. */
  function decide(choice) {
    if (!asked) return;
    guess = choice;
    asked = false;
    awaited = choice !== null;
    questions.prediction.pose(null);
    const hidden = pending;
    pending = false;
    const words = preset?.predict?.options.find(([key]) => key === choice)?.[1];
    if (words) questions.answer(`Your guess: ${words}.`);
    if (hidden) reveal();
    answer();
  }

  function answer() {
    const found = preset && !asked ? findings() : null;
    if (!preset || found === null) return;
    const right = preset.predict?.right(found) ?? null;
    questions.answer(score(guess, right) + preset.after(found));
    if (awaited) look();
    awaited = false;
  }

  /** Brings the question with its guesses, or the answer, into view, by as little as that takes. */
  function look() {
    questions.say.scrollIntoView({
      block: "nearest",
      behavior: reducedMotion() ? "auto" : "smooth",
    });
  }

  return {
    row: questions.row,
    say: questions.say,
    decide,
    answer,
    look,
    get preset() {
      return preset;
    },
    get pending() {
      return pending;
    },
    get asked() {
      return asked;
    },
    /** The reader has changed something: nothing is hidden any more. */
    show() {
      pending = false;
    },
    /**
     * Puts a question, or none, above the stage.
     *
     * @param {Preset<S, F> | null} next
     * @param {{ words?: string, hide?: boolean }} [how] `hide`: the stage is not to tell the answer yet.
     */
    pose(next, { words = OWN, hide = false } = {}) {
      preset = next;
      guess = null;
      awaited = false;
      asked = Boolean(next?.predict);
      pending = asked && hide;
      questions.mark(next?.key ?? null, next?.ask ?? words);
      questions.prediction.pose(next?.predict?.options ?? null);
    },
    /**
     * Words in place of an answer.
     *
     * @param {string} words
     */
    tell: (words) => questions.answer(words),
    /**
     * Words in place of the question.
     *
     * @param {string} words
     */
    warn: (words) => questions.mark(preset?.key ?? null, words),
  };
}

/**
 * @template {object} S
 * @template F
 * @typedef {ReturnType<typeof createAsking<S, F>>} Asking
 */

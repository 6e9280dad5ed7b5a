// The current question: posed, guessed at, answered. The stage may hide the answer until the reader has guessed.
import { reducedMotion } from "./clock.js";
import { score } from "./prediction.js";
import { createQuestions } from "./questions.js";

/** @import { Preset } from "./presets.js" */
/** @import { Offer } from "./questions.js" */

const OWN = "Your own settings. A question sets all the sliders anew.";

/**
 * `choose(preset)` is called when the reader presses a question, and `reveal()` when the hidden parts are to be drawn.
 * `findings()` returns the results that the answer quotes, or null while they are not known.
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
  let pending = false; // the stage hides the answer
  let asked = false; // the answer waits for the reader's guess
  let awaited = false; // the answer to the reader's guess has not come into view yet
  /** @type {string | null} */
  let guess = null;
  const questions = createQuestions(presets, { choose, guess: decide }, offer);
  if (preset) questions.mark(preset.key, preset.ask); // at once, so that nothing moves when it is posed

  /** @param {string | null} choice The reader's guess; null if the reader only wants to see the answer. */
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
    const results = preset && !asked ? findings() : null;
    if (!preset || results === null) return;
    const right = preset.predict?.right(results) ?? null;
    questions.answer(score(guess, right) + preset.after(results));
    if (awaited) look();
    awaited = false;
  }

  /** Scrolls as little as needed to bring the question with its guesses, or the answer, into view. */
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
    /** Ends the hiding, because the reader has changed something; the answer is no longer that to the guess. */
    show() {
      pending = false;
      guess = null;
    },
    /**
     * Poses a question, or none.
     *
     * @param {Preset<S, F> | null} next
     * @param {{ words?: string, hide?: boolean }} [how] `hide`: the stage does not show the answer yet.
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
     * Shows words in place of an answer.
     *
     * @param {string} words
     */
    tell: (words) => questions.answer(words),
    /**
     * Shows words in place of the question.
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

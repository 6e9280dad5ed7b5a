// What every explorer is: settings, questions that set them, a status line, and where its parts stand on the page.
import { h, setText, throttle } from "./dom.js";
import { createQuestions } from "./questions.js";

/** @import { Child } from "./dom.js" */
/** @import { Explorer } from "./mount.js" */
/** @import { Playback } from "./playback.js" */

/**
 * Settings posed as a question; `after` says what was found.
 *
 * @template S, F
 * @typedef {{ key: string, name: string, ask: string, set: S, after: (found: F) => string }} Preset
 */

/**
 * Questions with their settings in full: `settle` makes them of what a question changes.
 *
 * @template P, S, F
 * @param {Preset<P, F>[]} questions
 * @param {(patch: P) => S} settle
 * @returns {Preset<S, F>[]}
 */
export const posed = (questions, settle) =>
  questions.map(({ set, ...rest }) => ({ ...rest, set: settle(set) }));

const OWN = "Your own setting. Press a question to come back to it.";
const INVITATION = "Press a question, or change anything.";
const PATIENCE = 1500; // milliseconds between two readings of the status line

/**
 * An explorer's frame; the explorer says what is its own:
 *
 * - `next(settings, patch)`: the settings after a change of the reader's;
 * - `stands(patch)`: whether the question on show still stands after it (it does not, where this is left out);
 * - `update({ before, play })`: draws the new settings; `before` are the last ones, null where a question has set them,
 *   and `play` says whether what moves is to be played;
 * - `findings()`: what the question's answer is told, or null while it is not known;
 * - `words()`: the status line; `save(settings)` is told every change of the reader's.
 *
 * @template {object} S
 * @template {object} P
 * @template F
 * @param {{
 *   settings: S,
 *   presets: Preset<S, F>[],
 *   next(settings: S, patch: P): S,
 *   stands?(patch: P): boolean,
 *   update(how: { before: S | null, play: boolean }): void,
 *   findings(): F | null,
 *   words(): string,
 *   save?(settings: S): void,
 *   patience?: number,
 * }} own
 */
export function createFrame(own) {
  let settings = own.settings;
  let preset = own.presets.find(({ set }) => same(set, settings)) ?? null;
  const questions = createQuestions(own.presets, choose);
  const status = h("p", { class: "r1-status", role: "status", "aria-live": "polite" });
  const say = throttle(() => setText(status, own.words()), own.patience ?? PATIENCE);

  /** @param {Preset<S, F>} chosen */
  function choose(chosen) {
    settings = { ...chosen.set };
    preset = chosen;
    questions.mark(chosen.key, chosen.ask);
    own.update({ before: null, play: true });
    own.save?.(settings);
  }

  /** @param {boolean} [now] Whether the status line is to be read at once. */
  function settle(now = true) {
    if (now) setText(status, own.words());
    else say();
    const found = preset && own.findings();
    if (preset && found !== null) questions.answer(preset.after(found));
  }

  /**
   * The first picture, or the same played from its start.
   *
   * @param {boolean} play
   */
  function begin(play) {
    questions.mark(preset?.key ?? null, preset?.ask ?? INVITATION);
    own.update({ before: null, play });
  }

  return {
    status,
    say,
    settle,
    reset: () => choose(own.presets[0]),
    get settings() {
      return settings;
    },
    get preset() {
      return preset;
    },
    /**
     * Takes a patch of the reader's.
     *
     * @param {P} patch
     */
    change(patch) {
      const before = settings;
      settings = own.next(settings, patch);
      if (!own.stands?.(patch)) {
        preset = null;
        questions.mark(null, OWN);
      }
      own.update({ before, play: false });
      own.save?.(settings);
    },
    /**
     * Takes what playing has changed: no question falls, nothing is drawn anew.
     *
     * @param {Partial<S>} patch
     */
    follow(patch) {
      settings = { ...settings, ...patch };
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
    /**
     * The explorer: its stage, the controls beside it and the charts under it; what plays in it, with its keys, if
     * anything does; and what it shows beyond the settings and the step.
     *
     * @param {{
     *   stage: Child[],
     *   side: Child[],
     *   charts: Child[],
     *   playback?: Playback,
     *   onkeydown?(event: KeyboardEvent): void,
     *   className?: string,
     *   chartsClass?: string,
     *   state(): object,
     *   close?(): void,
     * }} parts
     * @returns {Explorer}
     */
    lay({ stage, side, charts, playback, className = "", chartsClass = "", ...parts }) {
      const named = (/** @type {string[]} */ ...names) => names.filter(Boolean).join(" ");
      const element = h(
        "div",
        { class: named("r1-body", className), onkeydown: parts.onkeydown ?? playback?.onkeydown },
        questions.element,
        h("div", { class: "r1-stage-block" }, stage),
        h("div", { class: "r1-side" }, side),
        h("div", { class: named("r1-chart-block", chartsClass) }, charts),
      );
      return {
        element,
        begin,
        state: () => ({
          settings,
          preset: preset?.key ?? null,
          ...playback?.state(),
          ...parts.state(),
        }),
        close() {
          playback?.clock.pause();
          parts.close?.();
        },
      };
    },
  };
}

/**
 * @template {object} S
 * @template {object} P
 * @template F
 * @typedef {ReturnType<typeof createFrame<S, P, F>>} Frame
 */

/**
 * Whether two settings are equal, whatever the order of their names.
 *
 * @param {object} a
 * @param {object} b
 */
export const same = (a, b) =>
  JSON.stringify(Object.entries(a).sort()) === JSON.stringify(Object.entries(b).sort());

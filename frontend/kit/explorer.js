// The frame of every explorer: settings, questions that set them, undo, an address, and the layout of its parts.
import { addressOf, presetOf, requested } from "./address.js";
import { createAsking } from "./asking.js";
import { h, setText, throttle } from "./dom.js";
import { createHistory, gesturesIn } from "./history.js";
import { layOut } from "./layout.js";
import { createLecture } from "./lecture.js";
import { createLink } from "./link.js";
import { createTools, undoKeys } from "./tools.js";

/** @import { Request } from "./address.js" */
/** @import { Table } from "./export.js" */
/** @import { Parts } from "./layout.js" */
/** @import { Explorer } from "./mount.js" */
/** @import { Playback } from "./playback.js" */
/** @import { Offer } from "./questions.js" */

/**
 * @template S, F
 * @typedef {import("./presets.js").Preset<S, F>} Preset
 */

export { posed } from "./presets.js";

const INVITATION = "Press a question, or change anything.";
const PATIENCE = 1500; // milliseconds between two announcements of the status line

/**
 * The frame of an explorer. The explorer defines:
 *
 * - `next(settings, patch)`: the settings after a change by the reader or by an address;
 * - `stands(patch)`: true if the current question still applies after the patch (if left out, no question does);
 * - `update({ before, play })`: draws the new settings. `before` are the previous settings, null unless the reader has
 *   changed, undone or redone a setting. `play` is true if motion is to be played. While `frame.pending`, the reader
 *   has yet to predict, and `update` must not draw anything that reveals the answer;
 * - `findings()`: the results that the question's answer quotes, or null while they are not known;
 * - `offer`: the questions that are buttons, and the questions in a menu behind them;
 * - `words()`: the status line; `save(settings)`: called after each change except `follow` and `keep`;
 * - `name`: the name in addresses (without a name there are none); `admits(name, value)`: true if an address may set
 *   the value;
 * - `aside`: names of settings that no question depends on, such as the part that is unfolded;
 * - `python(settings)`: lines of Python that compute what is shown; `data()`: the table of what the charts show.
 *
 * @template {object} S
 * @template {object} P
 * @template F
 * @param {{
 *   settings: S,
 *   presets: Preset<S, F>[],
 *   offer?: Offer,
 *   next(settings: S, patch: P): S,
 *   stands?(patch: P): boolean,
 *   update(how: { before: S | null, play: boolean }): void,
 *   findings(): F | null,
 *   words(): string,
 *   save?(settings: S): void,
 *   patience?: number,
 *   name?: string,
 *   aside?: string[],
 *   admits?(name: keyof S & string, value: any): boolean,
 *   python?(settings: S): string,
 *   data?(): Table,
 * }} own
 */
export function createFrame(own) {
  const opening = own.settings;
  let settings = opening;
  const asking = createAsking({
    presets: own.presets,
    offer: own.offer,
    preset: presetOf(own.presets, opening),
    choose,
    reveal: () => own.update({ before: null, play: true }),
    findings: () => own.findings(),
  });
  const status = h("p", { class: "r1-status", role: "status", "aria-live": "polite" });
  const say = throttle(() => setText(status, own.words()), own.patience ?? PATIENCE);
  /** @type {ReturnType<typeof createHistory<{ settings: S, preset: Preset<S, F> | null }>>} */
  const history = createHistory();
  let gesture = () => 0;
  let begun = false;
  let arrivals = -1; // counts down, so that each arrival is a gesture of its own
  let write = () => {};
  let stage = h("div");
  /** @type {HTMLElement[]} */
  let pictured = [];
  /** @type {ReturnType<typeof createLecture> | null} */
  let lecture = null;
  const turns = { undo: () => turn(history.undo), redo: () => turn(history.redo) };
  const { name, python, data } = own;
  const tools = createTools({
    ...turns,
    name,
    data,
    pictured: () => [stage, ...pictured],
    address: name === undefined ? undefined : () => address(),
    questions: name === undefined ? undefined : own.presets.map(({ key }) => key),
    lecture: name === undefined ? undefined : () => lecture?.start(),
    python: python && (() => python(settings)),
  });

  const now = () => ({ settings, preset: asking.preset });
  const record = (by = gesture()) => history.record(now(), by);

  /** Saves the settings after a change, and updates the undo and redo buttons. */
  function afterChange() {
    own.save?.(settings);
    tools.show({ undo: history.canUndo, redo: history.canRedo });
  }

  /** @param {Preset<S, F>} chosen */
  function choose(chosen) {
    record();
    settings = { ...chosen.set };
    asking.pose(chosen, { hide: true });
    own.update({ before: null, play: !asking.pending });
    if (asking.pending) asking.look();
    afterChange();
    write();
  }

  /** @param {Preset<S, F>} preset Shown in its final state, for a picture. */
  function exhibit(preset) {
    settings = { ...preset.set };
    asking.pose(preset);
    own.update({ before: null, play: false });
  }

  /** @param {(from: ReturnType<typeof now>) => ReturnType<typeof now> | null} way */
  function turn(way) {
    const state = way(now());
    if (!state) return;
    const before = settings;
    settings = state.settings;
    asking.pose(state.preset);
    own.update({ before, play: false });
    afterChange();
    write();
  }

  /** @type {(base: S, patch: Partial<S>) => S} */
  const next = (base, patch) => own.next(base, /** @type {P} */ (/** @type {unknown} */ (patch)));
  const { admits, aside } = own;
  const known = { name: name ?? "", opening, presets: own.presets, next, admits, aside };
  const address = () => addressOf(now(), known);

  /** @param {Request} request */
  function arrive(request) {
    const arrival = requested(request, known);
    record(--arrivals);
    settings = arrival.settings;
    asking.pose(arrival.preset, { hide: arrival.isBare });
    own.update({ before: null, play: !asking.pending });
    afterChange();
  }

  /** @param {boolean} [atOnce] True if the status line is to change at once. */
  function settle(atOnce = true) {
    if (atOnce) setText(status, own.words());
    else say();
    asking.answer();
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
      return asking.preset;
    },
    /** True while the reader has yet to predict, so that nothing on the stage may reveal the answer. */
    get pending() {
      return asking.pending;
    },
    /**
     * Applies a patch by the reader.
     *
     * @param {P} patch
     */
    change(patch) {
      const before = settings;
      record();
      settings = own.next(settings, patch);
      asking.show();
      if (!own.stands?.(patch)) asking.pose(null);
      own.update({ before, play: false });
      afterChange();
      write();
    },
    /**
     * Takes over settings that playing has changed: the question stays, and nothing is redrawn.
     *
     * @param {Partial<S>} patch
     */
    follow(patch) {
      settings = { ...settings, ...patch };
    },
    /**
     * Takes over settings that the reader has changed: like `follow`, but the address changes too.
     *
     * @param {Partial<S>} patch
     */
    keep(patch) {
      settings = { ...settings, ...patch };
      write();
    },
    tell: asking.tell,
    warn: asking.warn,
    /**
     * The explorer, laid out from its parts. `playback`, if anything plays, brings its keys; `state()` returns what is
     * shown beyond the settings and the step; `pictured` are the elements that a saved picture shows below the stage.
     *
     * @param {Parts & {
     *   playback?: Playback,
     *   pictured?: HTMLElement[],
     *   onkeydown?(event: KeyboardEvent): void,
     *   state(): object,
     *   close?(): void,
     * }} parts
     * @returns {Explorer}
     */
    lay({ playback, pictured: more = [], ...parts }) {
      const onkeydown = parts.onkeydown ?? playback?.onkeydown;
      const laid = layOut({ ...parts, header: [asking.row, tools.element, asking.say], onkeydown });
      const { element } = laid;
      stage = laid.stage;
      pictured = more;
      const hall = { element, stage, asking, choose, exhibit, findings: () => own.findings() };
      lecture = name === undefined ? null : createLecture({ ...hall, name, presets: own.presets });
      const stand = () => lecture?.read();
      const link =
        name === undefined ? null : createLink({ element, name, arrive, address, stand });
      if (link) tools.element.prepend(link.back);
      write = link?.write ?? write;
      gesture = gesturesIn(element);
      element.addEventListener("keydown", undoKeys(turns));
      tools.show({ undo: false, redo: false });
      return {
        element,
        begin(play) {
          if (!begun && !asking.pending)
            asking.pose(asking.preset, { words: INVITATION, hide: true });
          begun = true;
          own.update({ before: null, play: play && !asking.pending });
        },
        state: () => ({
          settings,
          preset: asking.preset?.key ?? null,
          pending: asking.pending,
          ...playback?.state(),
          ...parts.state(),
        }),
        close() {
          link?.close();
          lecture?.close();
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

export { same } from "./address.js";

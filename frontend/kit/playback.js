// The controls of a clock: back, play or pause, step, a timeline to scrub, the speed and reset, with their keys.
import { AT_ONCE, createClock, defaultSpeed } from "./clock.js";
import { button, icon, resetButton, select } from "./controls.js";
import { h, setAttributes, setText, uid } from "./dom.js";
import { keyHelp, onKeys } from "./keys.js";

const SPEEDS = /** @type {[number, string][]} */ ([
  [10, "10 a second"],
  [30, "30 a second"],
  [60, "60 a second"],
  [240, "240 a second"],
  [AT_ONCE, "at once"],
]);
/** @type {[string, string][]} */
const KEYS = [
  ["k", "play or pause"],
  ["l", "one step on"],
  ["j", "one step back"],
  ["0", "back to the start"],
  ["r", "reset everything"],
];

/** @typedef {ReturnType<typeof createPlayback>} Playback */
/** @typedef {{ step: number, computed: number, steps: number, playing: boolean, words?: string }} Progress */

/**
 * `show(step)` draws a step; `rest(ended)` is called when playing ends or is paused and when the reader has chosen a
 * step, `open()` before the reader plays or chooses a step; `progress()` overrides values that the bar shows; `reset()`
 * restarts everything.
 *
 * @param {{
 *   timeline?: { last: number },
 *   speed?: number,
 *   show(step: number): void,
 *   rest(ended: boolean): void,
 *   reset(): void,
 *   open?(): void,
 *   progress?(): Partial<Progress>,
 * }} on
 */
export function createPlayback({ timeline = { last: 0 }, speed: usual = 60, ...on }) {
  const clock = createClock(timeline, { show: draw, onRest: () => on.rest(true) });
  const actions = { toggle, start: () => seek(0), step: () => seek(clock.step + 1), seek, reset };
  const bar = createBar(actions);
  const speed = select({
    label: "Speed",
    name: "speed",
    options: SPEEDS,
    value: defaultSpeed(usual),
    onInput: (v) => {
      clock.speed = Number(v);
    },
  });
  const chosen = () => Number(speed.value);
  let isOff = false;
  const playback = {
    element: h("div", { class: "r1-bar" }, bar.element, speed.element, resetButton(reset)),
    /** The transport and the rest of the bar separately, for an explorer with the transport on its stage. */
    get parts() {
      return { transport: bar.element, rest: [speed.element, resetButton(reset)] };
    },
    clock,
    /** True if what is shown next is to play: until the reader pauses or chooses a step, and again after Play. */
    wanted: true,
    refresh,
    /**
     * Sets the number of steps, all of them computed.
     *
     * @param {number} steps
     */
    cover(steps) {
      clock.steps = steps;
      timeline.last = steps;
    },
    /**
     * Plays from the first step, at the reader's speed or, this time, at another speed.
     *
     * @param {number} [speed] Steps per second.
     * @param {number} [lead] Milliseconds before the first step.
     */
    replay(speed = chosen(), lead = 0) {
      clock.pause();
      clock.speed = speed;
      clock.step = 0;
      clock.play(lead);
    },
    /** Turns the transport and its keys off while there is nothing to play; reset stays on. @param {boolean} off */
    set disabled(off) {
      if (off) clock.pause();
      isOff = off;
      bar.disabled = off;
      if (off) refresh();
    },
    usualSpeed() {
      clock.speed = defaultSpeed(usual);
      speed.value = clock.speed;
    },
    onkeydown: onKeys({
      k: toggle,
      l: actions.step,
      j: () => seek(clock.step - 1),
      0: actions.start,
      r: reset,
    }),
    /** The step shown, the number of steps, and whether the clock is playing. */
    state: () => ({ step: clock.step, steps: clock.steps, playing: clock.playing }),
  };

  /** @param {number} step */
  function draw(step) {
    on.show(step);
    refresh();
  }

  function refresh() {
    const { step, steps, playing } = clock;
    const computed = isOff ? 0 : timeline.last;
    const words = isOff ? "not run yet" : undefined;
    bar.show({ step, steps, playing, computed, ...(words && { words }), ...on.progress?.() });
  }

  function toggle() {
    if (isOff) return;
    playback.wanted = !clock.playing;
    if (clock.playing) {
      clock.seek(clock.step);
      on.rest(false);
      return;
    }
    on.open?.();
    clock.speed = chosen();
    clock.play();
    draw(clock.step);
  }

  /** @param {number} step */
  function seek(step) {
    if (isOff) return;
    playback.wanted = false;
    on.open?.();
    clock.seek(step);
    on.rest(clock.step >= clock.steps);
  }

  function reset() {
    playback.usualSpeed();
    on.reset();
  }

  return Object.assign(playback, { seek });
}

/** @param {{ toggle(): void, start(): void, step(): void, seek(step: number): void }} on */
function createBar(on) {
  const id = uid();
  const main = { class: "r1-button r1-main" };
  const play = button({ label: "Play", icon: "play", onClick: on.toggle, ...main });
  const scrubber = h("input", {
    id,
    type: "range",
    class: "r1-range r1-scrub",
    min: 0,
    value: 0,
    step: 1,
    "data-name": "scrub",
    "aria-label": "Step shown",
    oninput: () => on.seek(Number(scrubber.value)),
  });
  const output = h("output", { class: "r1-value r1-steps", for: id });
  const buttons = [
    button({ label: "Back to the start", icon: "start", onClick: on.start }),
    play,
    button({ label: "One step", icon: "step", onClick: on.step }),
  ];
  const element = h(
    "div",
    { class: "r1-playback", role: "group", "aria-label": "Playback" },
    buttons,
    scrubber,
    output,
  );
  return {
    element,
    /** @param {boolean} off */
    set disabled(off) {
      for (const part of [...buttons, scrubber]) part.disabled = off;
      element.classList.toggle("r1-off", off);
    },
    /**
     * Shows the step and the number of steps, or other `words`; the track also shows how many steps are computed.
     *
     * @param {Progress} progress
     */
    show({ step, computed, steps, playing, words = `step ${step} / ${steps}` }) {
      Object.assign(scrubber, { max: steps, value: step });
      scrubber.setAttribute("aria-valuetext", words.replace("/", "of"));
      scrubber.style.setProperty("--r1-share", `${(100 * step) / steps}%`);
      scrubber.style.setProperty("--r1-computed", `${(100 * computed) / steps}%`);
      setText(output, words);
      const label = playing ? "Pause" : "Play";
      if (play.getAttribute("aria-label") === label) return;
      setAttributes(play, { "aria-label": label, title: label });
      play.replaceChildren(icon(playing ? "pause" : "play"));
    },
  };
}

/**
 * The help on the keys; `more` are further lines of the widget's own.
 *
 * @param {string[]} more
 */
export const help = (...more) => keyHelp("any button", KEYS, more);

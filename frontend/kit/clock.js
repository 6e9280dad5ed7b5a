// The clock of a run, which sets the step shown. Playing computes nothing; the clock waits for steps not yet computed.

const LONGEST = 100; // milliseconds that a frame counts for at most, so that playing skips nothing after a stall

/** True if the reader's system asks for reduced motion. */
export const reducedMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export const AT_ONCE = 1e9; // steps per second: all steps in one frame

/** The initial speed, in steps per second: `usual`, or all at once if the reader's system asks for reduced motion. */
export const defaultSpeed = (usual = 60) => (reducedMotion() ? AT_ONCE : usual);

/**
 * `show(step)` draws a step; `onRest()` is called when playing reaches the end. `timeline.last` is the last step
 * computed so far.
 *
 * @param {{ readonly last: number }} timeline
 * @param {{ show(step: number): void, onRest(): void }} on
 */
export function createClock(timeline, { show, onRest }) {
  let frame = 0;
  let last = 0;
  let head = 0;
  const clock = {
    step: 0,
    steps: 1,
    playing: false,
    speed: defaultSpeed(),
    /** @param {number} [lead] Milliseconds before the first step. */
    play(lead = 0) {
      if (clock.playing) return;
      if (clock.step >= clock.steps) clock.step = 0;
      head = clock.step - (lead * clock.speed) / 1000;
      clock.playing = true;
      last = performance.now();
      frame = requestAnimationFrame(tick);
    },
    pause() {
      cancelAnimationFrame(frame);
      clock.playing = false;
    },
    /**
     * Shows a step and pauses there.
     *
     * @param {number} step
     */
    seek(step) {
      clock.pause();
      clock.step = Math.max(0, Math.min(step, timeline.last, clock.steps));
      head = clock.step;
      show(clock.step);
    },
  };

  /** @param {number} now */
  function tick(now) {
    const elapsed = Math.min(Math.max(0, now - last), LONGEST); // the frame's time may be earlier than play()
    head = Math.min(head + (elapsed * clock.speed) / 1000, timeline.last);
    last = now;
    clock.step = Math.max(0, Math.floor(head + 1e-6));
    if (clock.step >= clock.steps) clock.playing = false;
    show(clock.step);
    if (clock.playing) frame = requestAnimationFrame(tick);
    else onRest();
  }

  return clock;
}

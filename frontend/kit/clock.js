// The clock of a run: it sets the step on show. Playing only draws. It waits for steps that are still being computed.

const LONGEST = 100; // milliseconds a frame counts for at most: after a stall, playing goes on from where it was

/** Whether the reader's system asks for no motion. */
export const reducedMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export const AT_ONCE = 1e9; // steps a second: all of them in one frame

/** Steps a second to begin with: `usual`, or all at once where the reader's system asks for no motion. */
export const defaultSpeed = (usual = 60) => (reducedMotion() ? AT_ONCE : usual);

/**
 * `show(step)` draws a step; `onRest()` is called when playing reaches the end. `timeline.last` is how far there is.
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
     * Puts a step on show and stays there.
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
    const elapsed = Math.min(Math.max(0, now - last), LONGEST); // a frame may be stamped before play() was called
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

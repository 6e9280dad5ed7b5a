// Which step is on show. The engine computes ahead as fast as it can; playing is only a matter of drawing.

const LONGEST = 100; // milliseconds a frame counts for at most: after a stall, playing goes on from where it was

/** Whether the reader's system asks for no motion. */
export const reducedMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export const AT_ONCE = 1e9; // steps a second: all of them in one frame

/** Steps a second to begin with: `usual`, or all at once where the reader's system asks for no motion. */
export const defaultSpeed = (usual = 60) => (reducedMotion() ? AT_ONCE : usual);

/** `show(step)` draws a step; `onRest()` is called when playing reaches the end. `timeline.last` is how far there is. */
export function createPlayer(timeline, { show, onRest }) {
  let frame = null;
  let last = 0;
  let head = 0;
  const player = { step: 0, steps: 1, playing: false, speed: defaultSpeed() };

  function tick(now) {
    const elapsed = Math.min(Math.max(0, now - last), LONGEST); // a frame may be stamped before play() was called
    head = Math.min(head + (elapsed * player.speed) / 1000, timeline.last);
    last = now;
    player.step = Math.max(0, Math.floor(head + 1e-6));
    if (player.step >= player.steps) player.playing = false;
    show(player.step);
    if (player.playing) frame = requestAnimationFrame(tick);
    else onRest();
  }

  return Object.assign(player, {
    play() {
      if (player.playing) return;
      if (player.step >= player.steps) player.step = 0;
      head = player.step;
      player.playing = true;
      last = performance.now();
      frame = requestAnimationFrame(tick);
    },
    pause() {
      cancelAnimationFrame(frame);
      player.playing = false;
    },
    /** Puts a step on show and stays there. */
    seek(step) {
      player.pause();
      player.step = Math.max(0, Math.min(step, timeline.last, player.steps));
      head = player.step;
      show(player.step);
    },
  });
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { AT_ONCE, createClock, defaultSpeed } from "../kit/clock.js";

/** A clock of 100 steps, 60 per second, whose frames come when the test calls `frame`. */
function harness(timeline = { last: 100 }, still = false, lead = 0) {
  /** @type {FrameRequestCallback | null} */
  let next = null;
  globalThis.requestAnimationFrame = (callback) => {
    next = callback;
    return 1;
  };
  globalThis.cancelAnimationFrame = () => {
    next = null;
  };
  globalThis.matchMedia = () => /** @type {MediaQueryList} */ ({ matches: still });
  /** @type {number[]} */
  const shown = [];
  let rests = 0;
  const clock = createClock(timeline, {
    show: (step) => shown.push(step),
    onRest: () => {
      rests++;
    },
  });
  clock.steps = 100;
  const start = performance.now();
  clock.play(lead);
  return {
    clock,
    shown,
    rests: () => rests,
    waits: () => next !== null,
    /** @param {number} milliseconds */
    frame(milliseconds) {
      const callback = next;
      next = null;
      callback?.(start + milliseconds);
    },
  };
}

test("a run is played at its speed and rests at its end", () => {
  const { clock, shown, rests, waits, frame } = harness();
  for (let at = 50; at <= 1800; at += 50) if (waits()) frame(at);
  assert.ok(Math.abs(shown[9] - 30) <= 1);
  assert.equal(clock.step, 100);
  assert.equal(clock.playing, false);
  assert.equal(rests(), 1);
});

test("a long stall between frames advances a run by only a few steps", () => {
  const { clock, frame } = harness();
  frame(20);
  const before = clock.step;
  frame(60_000);
  assert.ok(clock.playing);
  assert.ok(clock.step > before);
  assert.ok(clock.step <= before + 7);
});

test("playing waits for what is not yet computed", () => {
  const timeline = { last: 2 };
  const { clock, frame } = harness(timeline);
  for (let at = 50; at <= 1000; at += 50) frame(at);
  assert.equal(clock.step, 2);
  assert.ok(clock.playing);
  timeline.last = 100;
  frame(1050);
  assert.equal(clock.step, 5);
});

test("a frame stamped before play() moves nothing back", () => {
  const { clock, frame } = harness();
  frame(-500);
  assert.equal(clock.step, 0);
  assert.ok(clock.playing);
});

test("with reduced motion a run is shown at once, until the reader picks a speed", () => {
  const { clock, frame } = harness({ last: 100 }, true);
  assert.deepEqual([clock.speed, defaultSpeed(10)], [AT_ONCE, AT_ONCE]);
  frame(50);
  assert.equal(clock.step, 100);
  clock.speed = 10;
  clock.play();
  assert.equal(clock.speed, 10);
});

test("a run may wait at its first step", () => {
  const run = harness({ last: 100 }, false, 150);
  for (const at of [50, 100, 140]) run.frame(at);
  assert.equal(run.clock.step, 0);
  for (const at of [200, 250, 300]) run.frame(at);
  assert.ok(run.clock.step > 5 && run.clock.step < 12);
});

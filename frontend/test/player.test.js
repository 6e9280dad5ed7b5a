import assert from "node:assert/strict";
import { test } from "node:test";
import { AT_ONCE, createPlayer, defaultSpeed } from "../kit/player.js";

/** A player of 100 steps, 60 a second, whose frames come when they are told to. */
function harness(timeline = { last: 100 }, still = false) {
  let next = null;
  globalThis.requestAnimationFrame = (callback) => {
    next = callback;
    return 1;
  };
  globalThis.cancelAnimationFrame = () => {
    next = null;
  };
  globalThis.matchMedia = () => ({ matches: still });
  const shown = [];
  let rests = 0;
  const player = createPlayer(timeline, {
    show: (step) => shown.push(step),
    onRest: () => {
      rests++;
    },
  });
  player.steps = 100;
  const start = performance.now();
  player.play();
  return {
    player,
    shown,
    rests: () => rests,
    waits: () => next !== null,
    frame: (milliseconds) => {
      const callback = next;
      next = null;
      callback(start + milliseconds);
    },
  };
}

test("a run is played at its speed and rests at its end", () => {
  const { player, shown, rests, waits, frame } = harness();
  for (let at = 50; at <= 1800; at += 50) if (waits()) frame(at);
  assert.ok(Math.abs(shown[9] - 30) <= 1);
  assert.equal(player.step, 100);
  assert.equal(player.playing, false);
  assert.equal(rests(), 1);
});

test("a stall does not skip what was to be seen", () => {
  const { player, frame } = harness();
  frame(20);
  const before = player.step;
  frame(60_000);
  assert.ok(player.playing);
  assert.ok(player.step > before);
  assert.ok(player.step <= before + 7);
});

test("playing waits for what is not yet computed", () => {
  const timeline = { last: 2 };
  const { player, frame } = harness(timeline);
  for (let at = 50; at <= 1000; at += 50) frame(at);
  assert.equal(player.step, 2);
  assert.ok(player.playing);
  timeline.last = 100;
  frame(1050);
  assert.equal(player.step, 5);
});

test("a frame stamped before play() moves nothing back", () => {
  const { player, frame } = harness();
  frame(-500);
  assert.equal(player.step, 0);
  assert.ok(player.playing);
});

test("without motion all is shown at once, until the reader picks a speed", () => {
  const { player, frame } = harness({ last: 100 }, true);
  assert.deepEqual([player.speed, defaultSpeed(10)], [AT_ONCE, AT_ONCE]);
  frame(50);
  assert.equal(player.step, 100);
  player.speed = 10;
  player.play();
  assert.equal(player.speed, 10);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { createHistory } from "../kit/history.js";

test("all changes of one gesture are undone in one step, and undone changes can be redone", () => {
  const history = createHistory();
  for (const [was, gesture] of [
    ["a", 1],
    ["b", 1],
    ["c", 1],
    ["d", 2],
  ])
    history.record(was, Number(gesture)); // now "e"
  assert.equal(history.undo("e"), "d");
  assert.equal(history.undo("d"), "a");
  assert.equal(history.undo("a"), null);
  assert.deepEqual([history.redo("a"), history.redo("d"), history.redo("e")], ["d", "e", null]);
});

test("a change after an undo is a new step, even if it belongs to the same gesture", () => {
  const history = createHistory();
  history.record("a", 1);
  assert.equal(history.undo("b"), "a");
  history.record("a", 1);
  assert.ok(history.canUndo && !history.canRedo);
});

test("the history keeps a limited number of steps and drops the oldest", () => {
  const history = createHistory(2);
  for (const i of [1, 2, 3]) history.record(i, i);
  assert.deepEqual([history.undo(4), history.undo(3), history.undo(2)], [3, 2, null]);
});

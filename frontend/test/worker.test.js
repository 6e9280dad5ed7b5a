import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "../kit/worker.js";

/** @import { ActorMaker } from "../kit/worker.js" */

/**
 * An actor that answers a number n with n arrays [n, i], whose buffers it transfers.
 *
 * @type {ActorMaker<{ n: number }, { value: Float64Array }>}
 */
function count(post) {
  return (message) => {
    const n = "n" in message ? message.n : 0;
    for (let i = 0; i < n; i++) {
      const value = Float64Array.of(n, i);
      post({ value }, [value.buffer]);
      assert.equal(value.length, 0); // transferred, not copied
    }
  };
}

test("without a worker the page's own thread answers, in order, until the link is closed", async () => {
  class Refused {
    constructor() {
      throw new Error("none here");
    }
  }
  Object.assign(globalThis, { Worker: Refused });
  /** @type {number[][]} */
  const received = [];
  let enough = () => {};
  const six = new Promise((/** @type {(done: void) => void} */ done) => {
    enough = done;
  });
  const link = connect("", count, (answer) => {
    assert.ok("value" in answer);
    if (received.push([...answer.value]) === 6) enough();
  });
  assert.equal(link.inWorker, false);
  for (const n of [1, 2, 3]) link.post({ n });
  await six;
  assert.deepEqual(received, [
    [1, 0],
    [2, 0],
    [2, 1],
    [3, 0],
    [3, 1],
    [3, 2],
  ]);
  link.post({ n: 4 });
  link.close();
  await new Promise((done) => setTimeout(done, 50));
  assert.equal(received.length, 6);
});

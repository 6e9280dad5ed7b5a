// Runs jobs of the editing explorer's mathematics, which `reply` in tests/node.py sends.
// The other half is test_editing.py.
import * as edit from "../../frontend/editing/math/edit.js";
import * as sequence from "../../frontend/editing/math/sequence.js";
import { PRESETS } from "../../frontend/editing/presets.js";
import { python } from "../../frontend/editing/python.js";
import { consequences, settingsFrom } from "../../frontend/editing/settings.js";

/** Settings with the numbers that the page shows for them, and the Python that it copies. */
const copied = (settings) => {
  const { W, edit: made, measured, total } = consequences(settings);
  return { text: python(settings), W, after: made.W, measured, total };
};

const jobs = {
  edit({ W, keys, used, k, v, geometry, ridge }) {
    const C = edit.moments(keys, used);
    const made = edit.rankOne(W, edit.direction(C, k, { geometry, ridge }), k, v);
    if (!made) return null;
    const damage = edit.sumOfSquares(edit.interference(W, made.W, keys));
    const least = edit.leastInterference(keys, k, made.residual);
    return { ...made, damage, least, leverage: edit.leverage(keys, k) };
  },
  sequence({ W, C, pairs, order, beta, ridge }) {
    return sequence.inSequence(W, C, pairs, order, { beta, ridge });
  },
  cosine: ({ C, a, b }) => sequence.cosineSquared(C, a, b, {}),
  copied: ({ patches }) => [
    ...PRESETS.map(({ set }) => copied(set)),
    ...patches.map((patch) => copied(settingsFrom(patch))),
  ],
  many: (job) => sequence.manyEdits(job),
  law: ({ T, D }) => Array.from({ length: T }, (_, i) => sequence.forgettingLaw(i + 1, T, D)),
};

export const answer = ([name, job]) => jobs[name](job);

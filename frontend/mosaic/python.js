// The run on show as a Python script that uses the package.
import { script } from "../kit/python.js";
import { FLIPS, HIDDEN } from "./math/damage.js";
import { SIDE } from "./math/pictures.js";

/** @import { Settings } from "./settings.js" */

/** @param {Settings} settings */
export function python({ K, target, damage, beta, Y, eta, steps, seed }) {
  const flips = damage === "flips";
  const visible = SIDE - Math.round(HIDDEN[damage] * SIDE);
  return script(
    "import jax",
    "import numpy as np",
    "import rankone as ro",
    "from rankone_book.characters import characters",
    "",
    `Xi = characters(${K}) / 16  # so that the cube has the diameter 1`,
    `truth = Xi[${target}]`,
    flips && `key = jax.random.key(${seed})`,
    flips && `query = np.asarray(ro.data.flip_bits(truth[None], ${FLIPS}, key=key))[0]`,
    flips && "known = np.zeros(256, bool)",
    !flips && `known = np.arange(256) < ${visible * SIDE}  # the upper rows`,
    !flips && "query = np.where(known, truth, 0.5 / 16)",
    `features = ro.RandomFeatures(256, ${Y}, key=jax.random.key(${seed}), projection="hadamard")`,
    `memories = {"exact": ro.MrDAM(Xi, ${beta}), "distributed": ro.DrDAM.store(Xi, ${beta}, features)}`,
    "for name, memory in memories.items():",
    `    run = ro.retrieve(memory, query, step_size=${eta}, max_steps=${steps}, tol=0, clamp=known, progress=False)`,
    "    wrong = int(((np.asarray(run.x) > 1 / 32) != (truth > 1 / 32))[~known].sum())",
    '    print(f"{name}: {wrong} of {(~known).sum()} free pixels wrong")',
  );
}

// The run on show as Python: the calls of the package that compute it again.
import { FILLS } from "../math/corruption.js";
import { REST } from "./simulation.js";

/** @import { Settings } from "./settings.js" */

/** @param {number[]} keys */
const list = (keys) => `[${keys.join(", ")}]`;

/** @param {Settings} settings */
function stored({ K, also, without }) {
  const keys =
    without.length > 0 ? `[k for k in range(${K}) if k not in ${list(without)}]` : `range(${K})`;
  return `stored = [*${keys}${also.map((key) => `, ${key}`).join("")}]`;
}

/**
 * Lines that load the pictures on offer, in [0, 1], one per row. The reader's own come last, in reverse, so that −1 is
 * the first of them.
 *
 * @param {Settings} settings
 */
function pictures({ collection, size, also, target }) {
  const own = Math.max(0, ...[...also, target].map((key) => -key));
  const D = collection === "bits" ? size * size : 3 * size * size;
  const lines =
    collection === "bits"
      ? [
          `pictures = np.asarray(ro.data.binary_patterns(500, ${D}, key=jax.random.key(0))) * ${D}**0.5`,
        ]
      : [`pictures = ro.data.photographs(${size})`];
  if (own > 0)
    lines.push(
      `own = np.zeros((${own}, ${D}))  # your pictures, the last first: put them here, in [0, 1]`,
      "pictures = np.concatenate([pictures, own])",
    );
  return lines;
}

/** @param {Settings} settings */
function visible({ collection, size, fraction, side }) {
  const width = Math.round(fraction * size);
  const lines = [`visible = np.ones((${size}, ${size}, ${collection === "bits" ? 1 : 3}), bool)`];
  const where = {
    top: `visible[:${width}]`,
    bottom: `visible[${size - width}:]`,
    left: `visible[:, :${width}]`,
    right: `visible[:, ${size - width}:]`,
  };
  if (side === "box") {
    lines.push(
      `far = abs(np.arange(${size}) + 0.5 - ${size / 2}) >= ${(Math.sqrt(fraction) * size) / 2}`,
    );
    lines.push("visible &= (far[:, None] | far)[..., None]");
  } else if (width > 0) lines.push(`${where[side]} = False`);
  return [...lines, "visible = visible.ravel()"];
}

/** @param {Settings} settings */
function query({ collection, fill, noise, flips, seed }) {
  const level = FILLS[fill];
  const lines = [`fill, shake, flip = jax.random.split(jax.random.key(${seed}), 3)`, "cue = truth"];
  if (flips > 0 && collection === "bits")
    lines.push(
      `cue = np.asarray(ro.data.flip_bits(truth[None] / D**0.5, ${flips}, key=flip))[0] * D**0.5`,
    );
  if (noise > 0) lines.push(`cue = np.clip(cue + ${noise} * jax.random.normal(shake, (D,)), 0, 1)`);
  const cover = level === null ? "jax.random.uniform(fill, (D,))" : String(level);
  return [...lines, `query = np.where(visible, cue, ${cover})`];
}

/**
 * @param {Settings} settings
 * @param {boolean} [painted] True if the reader has painted on the query.
 * @returns {string}
 */
export function python(settings, painted = false) {
  const { target, beta, Y, eta, steps, basis, seed, clamp, collection } = settings;
  const error =
    collection === "bits"
      ? "((x >= 0.5) != (truth >= 0.5))[judged].mean()"
      : "abs(x - truth)[judged].mean()";
  return `${[
    "import jax",
    "import numpy as np",
    "import rankone as ro",
    "",
    ...pictures(settings),
    stored(settings),
    `truth = pictures[${target}]`,
    "D = truth.size",
    ...visible(settings),
    ...query(settings),
    ...(painted
      ? ["# What you painted on the query is not in here: change visible and query."]
      : []),
    `clamped = visible${clamp ? "" : " & False"}`,
    "judged = ~clamped if not clamped.all() else clamped",
    `features = ro.RandomFeatures(D, ${Y}, key=jax.random.key(${seed}), basis="${basis}", projection="hadamard")`,
    "Xi = pictures[stored] / D**0.5",
    `memories = {"exact": ro.MrDAM(Xi, ${beta}), "distributed": ro.DrDAM.store(Xi, ${beta}, features)}`,
    "for name, memory in memories.items():",
    `    end = ro.retrieve(memory, query / D**0.5, step_size=${eta}, max_steps=${steps}, tol=${REST} / D**0.5, clamp=clamped, progress=False)`,
    "    x = np.asarray(end.x) * D**0.5",
    `    print(name, "error", round(float(${error}), 4))`,
  ].join("\n")}\n`;
}

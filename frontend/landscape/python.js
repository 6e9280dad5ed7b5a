// The run on show as a Python script that uses the package.
import { script } from "../kit/python.js";

/** @import { Point } from "../kit/handle.js" */
/** @import { Settings } from "./settings.js" */

/** @param {Point[]} points */
const numbers = (points) =>
  points.map(([x, y]) => `[${Number(x.toFixed(6))}, ${Number(y.toFixed(6))}]`).join(", ");

/** @param {Settings} settings */
export function python({ view, patterns, query, beta, Y, seed, basis, eta, steps }) {
  const isAlone = view === "exact";
  return script(
    !isAlone && "import jax",
    "import jax.numpy as jnp",
    "import rankone as ro",
    !isAlone && "from rankone.theory.drift import drift",
    "",
    `Xi = jnp.array([${numbers(patterns)}])`,
    `query = jnp.array(${numbers([query])})`,
    `memory = ro.MrDAM(Xi, ${beta})`,
    isAlone &&
      `retrieval = ro.retrieve(memory, query, step_size=${eta}, max_steps=${steps}, tol=0, progress=False)`,
    isAlone && "end = retrieval.x",
    !isAlone &&
      `features = ro.RandomFeatures(2, ${Y}, key=jax.random.key(${seed}), basis="${basis}")`,
    !isAlone && `copy = ro.DrDAM.store(Xi, ${beta}, features)`,
    !isAlone && `run = drift(memory, copy, query[None], step_size=${eta}, steps=${steps})`,
    !isAlone && "end = run.exact[-1, 0]",
    !isAlone && "distance = run.distance[:, 0]  # after each step",
    isAlone && 'print(f"The run on E ends at ({end[0]:.2f}, {end[1]:.2f}).")',
    !isAlone &&
      'for name, state in (("E", run.exact[-1, 0]), ("Ê", run.distributed[-1, 0])):\n    print(f"The run on {name} ends at ({state[0]:.2f}, {state[1]:.2f}).")',
    !isAlone && 'print(f"Apart at the end: {float(distance[-1]):.3g}")',
    view === "tube" && "tube = run.recursion(run.local_growth(memory, points=9))[:, 0]",
    view === "tube" && 'print(f"The tube allows {float(tube[-1]):.3g}")',
  );
}

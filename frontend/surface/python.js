// The run on show as a Python script that uses the package.
import { script } from "../kit/python.js";

/** @import { Settings, Stored } from "./settings.js" */

/**
 * @param {Settings} settings
 * @param {Pick<Stored, "names" | "pictures" | "side">} stored
 */
export function python(settings, { names, pictures, side }) {
  const { start, from, covered, query, beta, eta, steps } = settings;
  const width = Math.round(covered * side);
  // The weights of the three pictures in a blend solve three equations: two in the plane, and that their sum is 1.
  return script(
    "import numpy as np",
    "import rankone as ro",
    "",
    `names = ${JSON.stringify(names)}`,
    "everything = ro.data.photograph_names()",
    `pictures = ro.data.photographs(${side})[np.array([everything.index(name) for name in names])]`,
    "D = pictures.shape[1]",
    "Xi = np.asarray(pictures) / D**0.5",
    start === "covered" && `start = Xi[${from}].reshape(${side}, ${side}, 3).copy()`,
    start === "covered" && width > 0 && `start[${side - width}:] = 0.5 / D**0.5`,
    start === "blend" &&
      `places = np.array([${pictures.places.map((at) => `[${at.map((v) => v.toFixed(9)).join(", ")}]`).join(", ")}])`,
    start === "blend" &&
      `weights = np.linalg.solve(np.vstack([places.T, np.ones(3)]), [${query.join(", ")}, 1])`,
    start === "blend" && "start = weights @ Xi",
    `memory = ro.MrDAM(Xi, ${beta})`,
    `retrieval = ro.retrieve(memory, start.ravel(), step_size=${eta}, max_steps=${steps}, tol=0, progress=False)`,
    "end = np.asarray(retrieval.x)",
    "apart = np.linalg.norm(Xi - end, axis=1)",
    'print(f"Nearest to the end: {names[apart.argmin()]}, {apart.min():.3g} away")',
    'print(f"Energy: from {float(retrieval.energies[0]):.3g} to {float(retrieval.energies[-1]):.3g}")',
  );
}

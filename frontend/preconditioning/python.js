// The descents on show as a Python script: P from the package, and the three descents with the same update rule.
import { arrayOf, HEAD, literal, script } from "../kit/python.js";
import { METHODS, stepSizes } from "./math/paths.js";
import { createProblem, W_STAR } from "./math/problem.js";

/** @import { Settings } from "./settings.js" */

/** @type {Record<string, (momentum: number) => string[]>} */
const RULES = {
  gd: () => ["step = g"],
  heavy: (b) => [`m = ${b} * m + g`, "step = m"],
  nesterov: (b) => [`m = ${b} * m + g`, `step = g + ${b} * m`],
  adam: () => [
    "m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2",
    "step = m / (1 - 0.9**t) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)",
  ],
  muon: (b) => [
    `m = ${b} * m + g`,
    "left, values, right = np.linalg.svd(m, full_matrices=False)",
    "step = left @ np.diag(values > 1e-10 * values[0]) @ right  # the nearest orthogonal matrix",
  ],
};

/**
 * A script that computes P, the paths `plain`, `on_U` and `with_P` (W after each step), their losses, and the gap
 * between the last two paths.
 *
 * @param {Settings} settings
 */
export function python(settings) {
  const { conditionA, angleA, conditionD, conditionT, angleT, rankT, conditionV, angleV, rankV } =
    settings;
  const { rule, decay } = METHODS[settings.method];
  const { plain, explicit } = stepSizes(settings, createProblem(settings));
  const penalty = decay === "penalty";
  const pulled = (/** @type {string} */ x) => (penalty ? ` + ${settings.lambda} * ${x}` : "");
  const keep = decay === "decoupled" ? `(1 - eta * ${settings.lambda}) * x` : "x";
  return script(
    HEAD,
    "",
    "def shape(condition, degrees):  # a rotation, and axes of length √condition and 1/√condition",
    "    c, s = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))",
    "    return np.array([[c, -s], [s, c]]) @ np.diag([condition**0.5, condition**-0.5])",
    "",
    `A = shape(${conditionA}, ${angleA}) @ shape(1, ${angleA}).T  # of the inputs`,
    `D = shape(${conditionD}, 0)  # of the gradients at the output`,
    `T = shape(${conditionT}, ${angleT})[:, :${rankT}]`,
    `V = shape(${conditionV}, ${angleV})[:, :${rankV}].T`,
    `W_star, W0 = ${arrayOf(W_STAR)}, ${arrayOf(settings.start)}`,
    "P = ro.kronecker_preconditioner(T, V)  # VᵀV ⊗ TTᵀ",
    "U0 = np.linalg.pinv(T) @ W0 @ np.linalg.pinv(V)",
    "out_of_reach = W0 - T @ U0 @ V",
    "loss = lambda W: 0.5 * jax.numpy.trace(D @ (W - W_star) @ A @ (W - W_star).T)",
    "slope = jax.jit(jax.grad(loss))",
    "",
    "def descend(x, gradient, eta):",
    "    path, m, v = [x], 0 * x, 0 * x",
    `    for t in range(1, ${settings.steps + 1}):`,
    "        g = np.asarray(gradient(x))",
    ...RULES[rule](settings.momentum).map((line) => `        ${line}`),
    `        x = ${keep} - eta * step`,
    "        path.append(x)",
    "    return np.array(path)",
    "",
    `plain = descend(W0, lambda W: slope(W)${pulled("W")}, ${literal(plain)})`,
    `with_P = descend(W0, lambda W: P.apply(slope(W)${pulled("W")}), ${literal(explicit)})`,
    `on_U = descend(U0, lambda U: T.T @ slope(out_of_reach + T @ U @ V) @ V.T${pulled("U")}, ${literal(explicit)})`,
    "on_U = out_of_reach + T @ on_U @ V",
    "losses = [[float(loss(W)) for W in path] for path in (plain, on_U, with_P)]",
    "gap = np.linalg.norm(on_U - with_P, axis=(1, 2))",
    "ends = [one[-1] for one in losses]",
    `print(f"Step ${settings.steps}. Loss: plain {ends[0]:.3g}, on U {ends[1]:.3g}, with P {ends[2]:.3g}.")`,
    'print(f"Gap between the last two {gap[-1]:.3g}, at most {gap.max():.3g}.")',
  );
}

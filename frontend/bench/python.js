// The memory on show as Python code that uses the package.
import { arrayOf, HEAD, script } from "../kit/python.js";
import { placeOf, wayAt } from "./math/writing.js";
import { keysOf, REACH, valuesOf } from "./settings.js";

/** @import { Settings } from "./settings.js" */

/** @param {number} v */
const brief = (v) => Number(v.toPrecision(8));

/** The library's rule for this method of writing, or null if there is none. @type {(settings: Settings) => [name: string, call: string] | null} */
function ruleOf({ way, omega, rounds, backward }) {
  const named = wayAt(way);
  if (named === "exact") return ["Exact", "Exact()"];
  if (named === "sequence" && !backward)
    return rounds > 1 ? ["Cycled", `Cycled(${rounds})`] : ["InSequence", "InSequence()"];
  if (rounds > 1) return null;
  if (named === "batch") return ["BatchStep", "BatchStep()"];
  return named === "ridge" ? ["Ridge", `Ridge(${omega})`] : null;
}

/** @type {(settings: Settings) => [source: string, name: string, call: string]} */
function kernelOf({ kernel, width, Y, seed }) {
  const key = `key=jax.random.key(${seed})`;
  if (Y && kernel === "gaussian")
    return ["", "", `ro.RandomFeatures(2, ${Y}, ${key})  # of keys over the width`];
  if (Y)
    return [
      "rankone.theory.soft_neighbours",
      "laplace_features",
      `laplace_features(2, ${Y}, ${width}, ${key})`,
    ];
  if (kernel === "gaussian") return ["rankone.writes", "Gaussian", `Gaussian(${width} ** -2)`];
  return ["rankone.writes", "Laplace", `Laplace(${width})`];
}

/** @param {Settings} settings */
export function python(settings) {
  const { view, width, kernel, Y, divide, way, omega, rounds, backward } = settings;
  const keys = keysOf(settings);
  const rule = ruleOf(settings);
  const [source, name, kernelCall] = kernelOf(settings);
  const isFlat = view === "line";
  const { earlier, later, slack } = placeOf(way, omega);
  const shares = backward ? [later, earlier] : [earlier, later];
  const from = [rule?.[0], source === "rankone.writes" && name, rule && "interpolate"];
  const names = from.filter((one) => one).sort();
  const normalise = divide ? ", normalise=True" : "";
  const scaled = Y > 0 && kernel === "gaussian";
  return script(
    HEAD,
    !rule && "from rankone.theory.one_rule import partial_solve",
    source === "rankone.theory.soft_neighbours" && `from ${source} import ${name}`,
    names.length > 0 && `from rankone.writes import ${names.join(", ")}`,
    "",
    `K = ${arrayOf([0, 1].map((axis) => keys.map((at) => brief(at[axis]))))}  # a key per column`,
    `R = ${arrayOf([valuesOf(settings).map(brief)])}`,
    isFlat && `queries = np.stack([np.linspace(-${REACH}, ${REACH}, 261), np.zeros(261)])`,
    !isFlat && `side = np.linspace(-${REACH}, ${REACH}, 17)`,
    !isFlat &&
      "queries = np.stack(np.meshgrid(side, side[::-1])).reshape(2, -1)  # row by row from the top",
    "queries = np.concatenate([queries, K], axis=1)  # and at the stored keys",
    `kernel = ${kernelCall}`,
    scaled && `K, queries = K / ${width}, queries / ${width}`,
    Boolean(rule) && `read = interpolate(K, R, queries, kernel, rule=${rule?.[1]}${normalise})[0]`,
    !rule && "K, queries = map(jax.numpy.asarray, (K, queries))",
    !rule && "S = np.asarray(kernel.inner(K, K))",
    !rule && `X = partial_solve(S, ${brief(shares[0])}, ${brief(shares[1])}, ${brief(slack)})`,
    !rule && rounds > 1 && `for _ in range(${Math.log2(rounds)}):  # twice as many rounds each`,
    !rule && rounds > 1 && "    X = 2 * X - X @ S @ X",
    !rule && "weights = X @ kernel.inner(K, queries)",
    !rule && `read = (R @ weights${divide ? " / weights.sum(0)" : ""})[0]`,
    "read, back = np.split(np.asarray(read), [-R.shape[1]])",
    "error = np.sqrt(np.mean((back - R[0]) ** 2))",
    'print(f"root mean square error at the stored keys: {error:.2g}")',
  );
}

// Random data. The same key gives the same points as in the package, because the numbers are drawn as JAX draws them.
import * as random from "../../math/random.js";

/** @import { Key } from "../../math/random.js" */

/**
 * n points uniform in the ball of radius √(d+2), one per row of d numbers, as in `sample_ball` of rankone.residual
 * [S-A5.1]. They are points uniform on a sphere in d + 2 dimensions without the last two coordinates.
 *
 * @type {(key: Key, n: number, d: number) => Float32Array}
 */
export function sampleBall(key, n, d) {
  const normal = random.normal(key, n * (d + 2));
  const points = new Float32Array(n * d);
  for (let i = 0; i < n; i++) {
    const row = normal.subarray(i * (d + 2), (i + 1) * (d + 2));
    const scale = Math.sqrt(d + 2) / Math.hypot(...row);
    for (let j = 0; j < d; j++) points[i * d + j] = scale * row[j];
  }
  return points;
}

/**
 * n points uniform in the square from −1 to 1, one per row of 2.
 *
 * @type {(key: Key, n: number) => Float32Array}
 */
export const sampleSquare = (key, n) => random.uniform(key, 2 * n).map((u) => 2 * u - 1);

/**
 * The height of the wavy border between the two classes; class 1 is above it.
 *
 * @param {number} x
 */
export const border = (x) => 0.55 * Math.sin(Math.PI * x);

/** @type {(x: number, y: number) => 0 | 1} */
export const classOf = (x, y) => (y > border(x) ? 1 : 0);

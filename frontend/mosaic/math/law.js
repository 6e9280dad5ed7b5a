// The number of frequencies that two conditions require, computed before any run [D-sharp5, D-sharp11, D-sharp17].

/** The steepest slope of a well, which is at r = 1. If the noise is steeper, there is no fixed point. */
const STEEPEST = Math.exp(-0.5);

/**
 * The law's quantities: the noise √(K/2Y) of Ŝ; its slope c = √freedom·√(K/2Y), called `roughness`; the slope
 * r·exp(−r²/2) of the well at the query; `allowed`, the largest c at which the descent succeeds; and `needed`, the Y at
 * which c equals `allowed`. `square` is ‖x − ξ‖² of the query.
 *
 * @param {{ K: number, Y: number, beta: number, eta: number, freedom: number, square: number }} setting
 */
export function law({ K, Y, beta, eta, freedom, square }) {
  const r = Math.sqrt(beta * square);
  const slope = r * Math.exp((-r * r) / 2);
  const first = slope / Math.sqrt(eta / (2 - eta)); // if c is smaller, the first step moves nearer to the picture
  const allowed = r > 1 ? Math.min(STEEPEST, first) : STEEPEST;
  const noise = Math.sqrt(K / (2 * Y));
  return {
    noise,
    roughness: Math.sqrt(freedom) * noise,
    slope,
    allowed,
    needed: (freedom * K) / (2 * allowed * allowed),
  };
}

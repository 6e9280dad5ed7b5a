// The number of frequencies that two conditions require, before anything runs [D-sharp5, D-sharp11, D-sharp17].

/** The steepest slope of a well, at r = 1: a noise that is steeper leaves no fixed point. */
const STEEPEST = Math.exp(-0.5);

/**
 * The noise of Ŝ, √(K/2Y), and its slope c, √freedom times that; the slope of the well at the query, r·exp(−r²/2);
 * the largest c that the descent stands; and the Y that brings c down to it. `square` is ‖x − ξ‖² of the query.
 *
 * @param {{ K: number, Y: number, beta: number, eta: number, freedom: number, square: number }} setting
 */
export function law({ K, Y, beta, eta, freedom, square }) {
  const r = Math.sqrt(beta * square);
  const slope = r * Math.exp((-r * r) / 2);
  const first = slope / Math.sqrt(eta / (2 - eta)); // the first step leads nearer below it
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

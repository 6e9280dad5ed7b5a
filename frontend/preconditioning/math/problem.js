// The loss ½ tr D (W − W*) A (W − W*)ᵀ of a 2 × 2 matrix W, the factors T and V, and the end of each path.
import * as m from "./matrix.js";

/** @import { Matrix } from "../../math/linear.js" */
/** @import { Settings } from "../settings.js" */
/** @typedef {import("../../math/linear.js").Vector} Vector */
/** @typedef {"none" | "penalty" | "decoupled"} Decay */
/** @typedef {ReturnType<typeof createProblem>} Problem */

/** The minimiser W* of the loss. */
export const W_STAR = [
  [0.9, 0.5],
  [-0.6, 0.8],
];

/**
 * The symmetric matrix with eigenvalues √condition and 1/√condition, the larger along the direction `angle`.
 *
 * @type {(condition: number, angle: number) => Matrix}
 */
export function shaped(condition, angle) {
  const R = m.rotation(angle);
  const root = Math.sqrt(condition);
  return m.multiply(R, m.diagonal([root, 1 / root]), m.transpose(R));
}

/**
 * R(angle)·diag(√condition, 1/√condition), whose condition number is `condition`; for rank 1 only its first column.
 *
 * @type {(condition: number, angle: number, rank?: number) => Matrix}
 */
export function factor(condition, angle, rank = 2) {
  const root = Math.sqrt(condition);
  const full = m.multiply(m.rotation(angle), m.diagonal([root, 1 / root]));
  return rank === 2 ? full : full.map(([first]) => [first]);
}

/**
 * All quantities that stay fixed during a run. Vecs stack columns, so H = A ⊗ D, J = Vᵀ ⊗ T and P = VᵀV ⊗ TTᵀ = JJᵀ
 * [K-eqP]. If T or V has rank 1, a part `rest` of the start is out of reach: W = rest + TUV [K-unn-init].
 *
 * @param {Settings} settings
 */
export function createProblem(settings) {
  const A = shaped(settings.conditionA, settings.angleA);
  const D = shaped(settings.conditionD, 0);
  const T = factor(settings.conditionT, settings.angleT, settings.rankT);
  const V = m.transpose(factor(settings.conditionV, settings.angleV, settings.rankV));
  const H = m.kron(A, D);
  const J = m.kron(m.transpose(V), T);
  const Jt = m.transpose(J);
  const P = m.kron(m.multiply(m.transpose(V), V), m.multiply(T, m.transpose(T)));
  const w0 = m.vec(settings.start);
  const u0 = m.solve(m.multiply(Jt, J), m.apply(Jt, w0)); // T⁺ W₀ V⁺
  const rest = m.apply(J, u0).map((v, i) => w0[i] - v);
  const full = settings.rankT === 2 && settings.rankV === 2;
  if (full) rest.fill(0); // T and V are invertible, so that the rest is only rounding
  return { A, D, T, V, H, J, Jt, P, w0, u0, rest, full, wStar: m.vec(W_STAR) };
}

/**
 * The loss ½ (w − w*)ᵀ H (w − w*).
 *
 * @type {(problem: { H: Matrix, wStar: Vector }, w: Vector) => number}
 */
export function loss({ H, wStar }, w) {
  const d = w.map((v, i) => v - wStar[i]);
  return m.apply(H, d).reduce((sum, v, i) => sum + (v * d[i]) / 2, 0);
}

/**
 * The gradient ∂L/∂w = H (w − w*).
 *
 * @type {(problem: { H: Matrix, wStar: Vector }, w: Vector) => Vector}
 */
export const gradient = ({ H, wStar }, w) =>
  m.apply(
    H,
    w.map((v, i) => v - wStar[i]),
  );

/**
 * The ends of the three paths, for a decay λ of `kind` "none", "penalty" or "decoupled" [K-decoupled, K-penalty].
 *
 * @type {(problem: Problem, kind: Decay, lambda: number) => Record<"plain" | "reparameterised" | "explicit", Vector>}
 */
export function limits(problem, kind, lambda) {
  const { H, J, Jt, P, rest, wStar } = problem;
  const decay = kind === "none" ? 0 : lambda;
  /** @param {number} n */
  const eye = (n) => m.scale(decay, m.identity(n));
  /** @param {Vector} w */
  const pull = (w) => m.apply(H, w);
  const shift = wStar.map((v, i) => v - rest[i]);
  /** @param {Vector} u */
  const place = (u) => m.apply(J, u).map((v, i) => v + rest[i]);
  const JHJ = m.multiply(Jt, H, J);
  const plain = decay === 0 ? [...wStar] : m.solve(m.add(H, eye(4)), pull(wStar));
  const own = place(m.solve(m.add(JHJ, eye(JHJ.length)), m.apply(Jt, pull(shift))));
  if (decay === 0) return { plain, reparameterised: own, explicit: own };
  if (kind === "decoupled") {
    const right = m.apply(P, pull(wStar));
    return {
      plain,
      reparameterised: own,
      explicit: m.solve(m.add(m.multiply(P, H), eye(4)), right),
    };
  }
  const ridge = m.multiply(Jt, m.add(H, eye(4)), J);
  const right = pull(shift).map((v, i) => v - decay * rest[i]);
  return { plain, reparameterised: own, explicit: place(m.solve(ridge, m.apply(Jt, right))) };
}

/**
 * The eigenvalues, in decreasing order, of the Hessian H, of P, and of JᵀHJ, the Hessian in U [K-sharp1].
 *
 * @param {Pick<Problem, "H" | "P" | "J" | "Jt">} problem
 */
export function spectra({ H, P, J, Jt }) {
  return {
    plain: m.eigenvalues(H),
    P: m.eigenvalues(P),
    preconditioned: m.eigenvalues(m.multiply(Jt, H, J)),
  };
}

/**
 * The spectra that limit the step size: of H for the plain path, and of JᵀHJ for the other two, with the decay added.
 *
 * @type {(problem: Problem, kind: Decay, lambda: number) => { plain: Vector, preconditioned: Vector }}
 */
export function curvatures(problem, kind, lambda) {
  const { H, J, Jt } = problem;
  const decay = kind === "none" ? 0 : lambda;
  /** @param {Matrix} S */
  const shifted = (S) => m.eigenvalues(S).map((v) => v + decay);
  const own = shifted(m.multiply(Jt, H, J));
  if (kind !== "penalty") return { plain: shifted(H), preconditioned: own };
  const ridge = m.eigenvalues(m.multiply(Jt, m.add(H, m.scale(decay, m.identity(4))), J));
  return { plain: shifted(H), preconditioned: [...own, ...ridge].sort((a, b) => b - a) };
}

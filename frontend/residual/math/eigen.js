// Eigenvalues and eigenvectors of a small symmetric matrix (rows of numbers), by Jacobi's rotations.

/** { values, vectors }: column j of `vectors` belongs to values[j]; in no order. */
export function eigen(S) {
  const A = S.map((row) => [...row]);
  const n = A.length;
  const vectors = A.map((_, i) => A.map((__, j) => (i === j ? 1 : 0)));
  for (let sweep = 0; sweep < 30; sweep++) {
    let off = 0;
    for (let p = 0; p < n; p++) {
      for (let q = p + 1; q < n; q++) {
        off += A[p][q] ** 2;
        rotate(A, vectors, p, q);
      }
    }
    if (off === 0) break;
  }
  return { values: A.map((row, i) => row[i]), vectors };
}

function rotate(A, vectors, p, q) {
  if (A[p][q] === 0) return;
  const theta = (A[q][q] - A[p][p]) / (2 * A[p][q]);
  const t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.hypot(theta, 1));
  const c = 1 / Math.hypot(t, 1);
  const s = t * c;
  for (const row of [...A, ...vectors]) {
    [row[p], row[q]] = [c * row[p] - s * row[q], s * row[p] + c * row[q]];
  }
  for (let k = 0; k < A.length; k++) {
    [A[p][k], A[q][k]] = [c * A[p][k] - s * A[q][k], s * A[p][k] + c * A[q][k]];
  }
  A[p][q] = 0;
  A[q][p] = 0;
}

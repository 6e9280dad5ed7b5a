// The arithmetic on a block, four floats at a time: WebAssembly for the block's length. assembler.js says why it is
// assembled here.
import {
  add,
  addFloats,
  addInts,
  assemble,
  call,
  constant,
  exclusiveOr,
  F32,
  get,
  I32,
  int,
  lane,
  loop,
  multiply,
  nearest,
  read,
  set,
  shuffled,
  signOfOdd,
  subtract,
  write,
} from "./assembler.js";
import { COSINE, SINE } from "./sincos.js";

/** @import { Code } from "./assembler.js" */
/** @import { Arrays, Block } from "./block.js" */

const WIDE = 16; // bytes of a vector
const TRANSFORM = 0; // index of `transform` among the functions
// π in parts: a small whole number times one of the first two is exact
const PI = [3.140625, 0.0009675025939941406, 1.5099579909783765e-7];

/** @type {(local: number, coefficients: readonly number[]) => Code} */
const polynomial = (local, [first, ...rest]) =>
  rest.length === 0
    ? constant(first)
    : add(constant(first), multiply(get(local), polynomial(local, rest)));

/**
 * The function that applies the Walsh–Hadamard transform in place to P floats. Its parameter is their address.
 *
 * @param {number} P
 */
function transform(P) {
  const [a, i, p, v] = [0, 1, 2, 3];
  const pair = (/** @type {number[]} */ swapped, /** @type {number[]} */ signs) => [
    add(shuffled(get(v), swapped), multiply(get(v), constant(...signs))),
    set(v),
  ];
  const ends = (/** @type {number} */ local, /** @type {number} */ n) => [
    get(local),
    int(4 * n),
    addInts,
  ];
  const within = loop(p, get(a), ends(a, P), WIDE, [
    ...[read(0)(p), set(v)],
    ...pair([1, 0, 3, 2], [1, -1, 1, -1]),
    ...pair([2, 3, 0, 1], [1, 1, -1, -1]),
    write(0, p, get(v)),
  ]);
  const passes = [];
  for (let h = 4, radix = 8; h < P; h *= radix) {
    while (radix * h > P) radix /= 2;
    const body = butterfly(h, radix, p, v);
    passes.push(
      loop(i, get(a), ends(a, P), 4 * radix * h, loop(p, get(i), ends(i, h), WIDE, body)),
    );
  }
  return {
    name: "transform",
    takes: [I32],
    gives: [],
    scratch: pairOf(2, 9),
    body: [within, passes],
  };
}

/** @type {(ints: number, vectors: number) => [number, number]} */
const pairOf = (ints, vectors) => [ints, vectors];

/**
 * Sums and differences of `radix` vectors, h floats apart, the first at address p. Their locals begin at v.
 *
 * @type {(h: number, radix: number, p: number, v: number) => Code}
 */
function butterfly(h, radix, p, v) {
  const spare = v + radix;
  const all = Array.from({ length: radix }, (_, k) => k);
  /** @type {Code[]} */
  const code = all.map((k) => [read(4 * k * h)(p), set(v + k)]);
  for (let gap = 1; gap < radix; gap *= 2) {
    for (const k of all.filter((each) => !(each & gap))) {
      const [one, other] = [v + k, v + k + gap];
      code.push(add(get(one), get(other)), set(spare));
      code.push(subtract(get(one), get(other)), set(other), get(spare), set(one));
    }
  }
  return [...code, all.map((k) => write(4 * k * h, p, get(v + k)))];
}

/**
 * @param {number} P
 * @param {Record<keyof Arrays, number>} at Addresses of the arrays.
 */
function functions(P, at) {
  const [p, x, k, r, t, sum] = [0, 1, 2, 3, 4, 1];
  const base = { takes: [], gives: [], scratch: pairOf(1, 4) };
  const each = (/** @type {Code} */ body) => loop(p, int(0), int(4 * P), WIDE, body);
  /** @type {(array: keyof Arrays, one: keyof Arrays, other: keyof Arrays) => Code} */
  const product = (array, one, other) =>
    each(write(at[array], p, multiply(read(at[one])(p), read(at[other])(p))));
  const transformed = [int(at.h), call(TRANSFORM)];
  const project = [
    ...[product("h", "z", "before"), transformed],
    ...[product("h", "h", "between"), transformed],
    product("h", "h", "norms"),
  ];
  const reduced = PI.reduce(
    (/** @type {Code} */ rest, part) => subtract(rest, multiply(get(k), constant(part))),
    get(x),
  );
  const waves = each([
    ...[read(at.h)(p), set(x)],
    ...[nearest(multiply(get(x), constant(1 / Math.PI))), set(k)],
    ...[reduced, set(r), multiply(get(r), get(r)), set(t), signOfOdd(get(k)), set(k)],
    write(at.first, p, exclusiveOr(polynomial(t, COSINE), get(k))),
    write(at.second, p, exclusiveOr(multiply(get(r), polynomial(t, SINE)), get(k))),
  ]);
  const [cosine, sine, even, odd] = [at.first, at.second, at.t, at.u].map((array) =>
    read(array)(p),
  );
  const slopes = [
    each([
      add(get(sum), add(multiply(even, cosine), multiply(odd, sine))),
      set(sum),
      write(at.h, p, subtract(multiply(odd, cosine), multiply(even, sine))),
    ]),
    [0, 1, 2, 3].map((i) => lane(get(sum), i)),
    [addFloats, addFloats, addFloats],
  ];
  const addBack = [
    ...[product("h", "h", "norms"), transformed],
    ...[product("h", "h", "between"), transformed],
    each(write(at.sum, p, add(read(at.sum)(p), multiply(read(at.h)(p), read(at.before)(p))))),
  ];
  return [
    transform(P),
    { ...base, name: "project", body: project },
    { ...base, name: "waves", body: waves },
    { ...base, name: "slopes", gives: [F32], body: slopes },
    { ...base, name: "addBack", body: addBack },
  ];
}

/**
 * The block of length P. Throws if the page may not compile WebAssembly.
 *
 * @type {(P: number, names: readonly (keyof Arrays)[]) => Block}
 */
export function simdBlock(P, names) {
  const at = /** @type {Record<keyof Arrays, number>} */ (
    Object.fromEntries(names.map((name, i) => [name, 4 * P * i]))
  );
  const module = new WebAssembly.Module(assemble(functions(P, at), 4 * P * names.length));
  const { m, transform, ...exports } = /** @type {any} */ (
    new WebAssembly.Instance(module).exports
  );
  const arrays = names.map((name) => [name, new Float32Array(m.buffer, at[name], P)]);
  return {
    ...Object.fromEntries(arrays),
    ...exports,
    transform: (/** @type {"z" | "sum"} */ name) => transform(at[name]),
  };
}

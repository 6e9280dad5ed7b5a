// An assembler for the part of WebAssembly that the arithmetic on a block needs: loops over four floats at a time. Code
// is nested lists of bytes, and the numbers are those of the WebAssembly specification. The bytes are written in the
// page because simd.js makes other code for each length P of a block: the addresses, the ends of the loops and the
// passes of the transform are constants that depend on P, so a file compiled with the book would need a copy per
// length. In node the result is at least ten times as fast as `plainBlock`.

/** @typedef {number | Code[]} Code */
/** @typedef {(p: number) => Code} Vector Pushes the four floats that begin `p` bytes (a local) into an array. */
/** @typedef {{ name: string, takes: Code[], gives: Code[], scratch: [ints: number, vectors: number], body: Code }} Made */

export const I32 = 0x7f; // i32
export const F32 = 0x7d; // f32
const V128 = 0x7b; // v128
const VOID = 0x40; // a block without a result
const [TYPES, FUNCTIONS, MEMORY, EXPORTS, CODES] = [1, 3, 5, 7, 10];
const PAGE = 65536; // bytes

/** @type {(n: number) => number[]} */
const unsigned = (n) => (n < 128 ? [n] : [(n & 127) | 128, ...unsigned(n >>> 7)]);
/** @type {(n: number) => number[]} */
const signed = (n) => (n < 64 && n >= -64 ? [n & 127] : [(n & 127) | 128, ...signed(n >> 7)]);

export const get = (/** @type {number} */ local) => [0x20, local]; // local.get
export const set = (/** @type {number} */ local) => [0x21, local]; // local.set
export const call = (/** @type {number} */ index) => [0x10, index]; // call
export const int = (/** @type {number} */ n) => [0x41, ...signed(n)]; // i32.const
export const addInts = 0x6a; // i32.add
export const addFloats = 0x92; // f32.add
const lessUnsigned = 0x49; // i32.lt_u

const simd = (/** @type {number} */ operation) => [0xfd, ...unsigned(operation)];
/** @type {(operation: number) => (...from: Code[]) => Code} */
const takes =
  (operation) =>
  (...from) => [from, simd(operation)];

export const add = takes(0xe4); // f32x4.add
export const subtract = takes(0xe5); // f32x4.sub
export const multiply = takes(0xe6); // f32x4.mul
export const nearest = takes(0x6a); // f32x4.nearest
export const exclusiveOr = takes(0x51); // v128.xor
const toInts = takes(0xf8); // i32x4.trunc_sat_f32x4_s
const shiftLeft = takes(0xab); // i32x4.shl
/** The sign bit, set where a whole number is odd. */
export const signOfOdd = (/** @type {Code} */ whole) => shiftLeft(toInts(whole), int(31));

/** @param {number[]} floats Four floats, or one for all four lanes. */
export const constant = (...floats) => {
  const four = Float32Array.from({ length: 4 }, (_, i) => floats[i % floats.length]);
  return [simd(0x0c), ...new Uint8Array(four.buffer)]; // v128.const
};

/** @type {(vector: Code, lanes: number[]) => Code} */
export const shuffled = (vector, lanes) => {
  const bytes = lanes.flatMap((lane) => [0, 1, 2, 3].map((byte) => 4 * lane + byte));
  return [vector, vector, simd(0x0d), bytes]; // i8x16.shuffle
};

/** @type {(vector: Code, lane: number) => Code} */
export const lane = (vector, number) => [vector, simd(0x1f), number]; // f32x4.extract_lane

/** @type {(array: number) => Vector} */
export const read = (array) => (p) => [get(p), simd(0x00), 2, unsigned(array)]; // v128.load
/** @type {(array: number, p: number, value: Code) => Code} */
export const write = (array, p, value) => [get(p), value, simd(0x0b), 2, unsigned(array)]; // v128.store

/**
 * A loop in which the address in local p goes from `from` in steps of `step` bytes, while it is below `end`. The body
 * runs at least once.
 *
 * @type {(p: number, from: Code, end: Code, step: number, body: Code) => Code}
 */
export const loop = (p, from, end, step, body) => [
  ...[from, set(p), 0x03, VOID, body], // loop
  ...[get(p), int(step), addInts, set(p), get(p), end, lessUnsigned],
  ...[0x0d, 0, 0x0b], // br_if 0, end
];

/** @type {(id: number, ...entries: Code[]) => number[]} */
function section(id, ...entries) {
  const bytes = [...unsigned(entries.length), ...flat(entries)];
  return [id, ...unsigned(bytes.length), ...bytes];
}

/** @type {(code: Code) => number[]} */
const flat = (code) => (typeof code === "number" ? [code] : code.flatMap(flat));

/**
 * The bytes of a module with these functions and a memory of at least `bytes` bytes.
 *
 * @type {(functions: Made[], bytes: number) => Uint8Array<ArrayBuffer>}
 */
export function assemble(functions, bytes) {
  const types = functions.map(({ takes, gives }) => [
    0x60,
    takes.length,
    takes,
    gives.length,
    gives,
  ]);
  const names = functions.map(({ name }, i) => {
    const letters = [...new TextEncoder().encode(name)];
    return [letters.length, letters, 0, i];
  });
  const codes = functions.map(({ scratch: [ints, vectors], body }) => {
    const code = flat([2, unsigned(ints), I32, unsigned(vectors), V128, body, 0x0b]);
    return [unsigned(code.length), code];
  });
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(TYPES, ...types),
    ...section(FUNCTIONS, ...functions.map((_, i) => i)),
    ...section(MEMORY, [0, unsigned(Math.ceil(bytes / PAGE))]),
    ...section(EXPORTS, ...names, [1, 0x6d, 2, 0]), // the memory is called m
    ...section(CODES, ...codes),
  ]);
}

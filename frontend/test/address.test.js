import assert from "node:assert/strict";
import { test } from "node:test";
import { admits } from "../editing/admits.js";
import { PRESETS } from "../editing/presets.js";
import { DEFAULTS, nextSettings, settingsFrom } from "../editing/settings.js";
import {
  accepted,
  addressOf,
  decode,
  encode,
  presetOf,
  requested,
  within,
} from "../kit/address.js";

/** @import { Patch, Settings } from "../editing/settings.js" */

/** @type {import("../kit/address.js").Known<Settings, typeof PRESETS[number]>} */
const editing = {
  name: "editing",
  opening: DEFAULTS,
  presets: PRESETS,
  next: (settings, patch) => nextSettings(settings, patch, 0),
  admits,
};

/** @type {(settings: Settings, key?: string | null) => ReturnType<typeof requested<Settings, typeof PRESETS[number]>> & { hash: string }} */
function thereAndBack(settings, key = null) {
  const preset = PRESETS.find((p) => p.key === key) ?? null;
  const hash = addressOf({ settings, preset }, editing);
  const request = decode(hash);
  assert.ok(request);
  return { hash, ...requested(request, editing) };
}

test("an address lists only the settings that differ from the opening ones, and restores them", () => {
  assert.equal(addressOf({ settings: DEFAULTS, preset: PRESETS[0] }, editing), "#r1:editing?");
  const settings = settingsFrom({ geometry: "pinv", k: [0.5, -1.25], ridge: 0.001 });
  const { hash, settings: back } = thereAndBack(settings);
  assert.equal(hash, "#r1:editing?k=%5B0.5,-1.25%5D&geometry=pinv&ridge=0.001");
  assert.deepEqual(back, settings);
});

test("an address names the question, followed by the settings that the reader has changed", () => {
  for (const { key, set } of PRESETS.slice(1)) {
    const { hash, settings, preset, isBare } = thereAndBack(set, key);
    assert.equal(hash, `#r1:editing?q=${key}`);
    assert.deepEqual([settings, preset?.key, isBare], [set, key, true]);
  }
  const moved = { ...PRESETS[6].set, v: /** @type {[number, number]} */ ([0, 1]) };
  const { hash, settings } = thereAndBack(moved, PRESETS[6].key);
  assert.equal(hash, `#r1:editing?q=${PRESETS[6].key}&v=%5B0,1%5D`);
  assert.deepEqual(settings, moved);
});

test("an address includes a setting that another one would otherwise change", () => {
  const more = nextSettings(DEFAULTS, { count: 14, used: 12 }, 7); // `count` alone would set `used` to 14
  assert.equal(more.used, 12);
  assert.deepEqual(thereAndBack(more).settings, more);
});

test("decoding distinguishes strings from the numbers and null that they look like", () => {
  const request = decode(
    encode("retrieval", { a: "12", b: 12, c: "null", d: "a b&c=d#é", e: true }),
  );
  assert.deepEqual({ ...request?.values }, { a: "12", b: 12, c: "null", d: "a b&c=d#é", e: true });
});

test("a question still applies if only settings that it does not depend on have changed", () => {
  const [{ set }] = PRESETS;
  const other = { ...set, open: 2 };
  const all = [{ ...PRESETS[0], set: { ...set, open: -1 } }];
  assert.equal(presetOf(all, other, ["open"])?.key, PRESETS[0].key);
  assert.equal(presetOf(all, other), null);
});

test("an address that is broken or belongs to no explorer sets nothing", () => {
  for (const hash of ["", "#", "#a-section", "#r1:", "#r1:Editing?k=1", "#r2:editing?k=1"])
    assert.equal(decode(hash), null);
  for (const rest of ["", "?", "?&&=&k", "?k=%E0%A4%A", "?=3"])
    assert.deepEqual({ ...decode(`#r1:editing${rest}`)?.values }, {});
});

test("invalid values in an address are dropped, and valid ones are kept", () => {
  const bad = [
    "k=1",
    "k=[1]",
    "k=[1,2,3]",
    'k=["1",2]',
    "k=[1e999,0]",
    "k=[9,0]",
    "k=null",
    "W=[[1,2]]",
    "W=[[1,2],[3]]",
    "geometry=euclid",
    "geometry=3",
    "ridge=-1",
    "ridge=1e999",
    "ridge=NaN",
    'ridge="1"',
    "ridge=true",
    "used=1.5",
    "keys=[]",
    "keys={}",
    "pairs=[1]",
    'pairs=[{"k":[1,2]}]',
    "order=[-1]",
    "order=[0.5]",
    "edits=1e9",
    "__proto__=1",
    "constructor=1",
    "toString=1",
    "count=5",
    "nothing=1",
  ];
  for (const pair of bad) {
    const [name, value] = pair.split("=");
    const hash = `#r1:editing?${name}=${encodeURIComponent(value)}&v=[0,1]`;
    const request = decode(hash);
    assert.ok(request);
    const { settings } = requested(request, editing);
    assert.deepEqual(settings, { ...DEFAULTS, v: [0, 1] }, pair);
  }
});

test("pairs that do not exist are removed from the order of edits", () => {
  const request = decode("#r1:editing?order=[0,1,2]");
  assert.ok(request);
  assert.deepEqual(requested(request, editing).settings.order, []);
});

test("bounds apply to every number of a list, and a choice must be one of its options", () => {
  const admitted = within({
    numbers: { beta: [0, 10] },
    counts: { n: [1, 3] },
    lists: { also: [0, 5] },
    points: { at: { shape: [null, 2], reach: 1, most: 2 } },
    choices: { how: ["a", "b"] },
  });
  const like = { beta: 1, n: 2, also: [], at: [[0, 0]], how: "a", free: true };
  const given = {
    beta: 11,
    n: 1.5,
    also: [3, 6],
    at: [
      [0, 0.5],
      [0, 2],
    ],
    how: "c",
    free: false,
  };
  assert.deepEqual(accepted(given, like, admitted), { free: false });
  const good = { beta: 10, n: 3, also: [0, 5], at: [[0, -1]], how: "b" };
  assert.deepEqual(accepted(good, like, admitted), good);
  const three = [0, 1, 2].map(() => [0, 0]);
  assert.deepEqual(accepted({ at: three }, like, admitted), {});
  assert.deepEqual(accepted({ at: [] }, like, admitted), {});
});

test("infinite numbers, NaN and names that are not settings are rejected", () => {
  assert.deepEqual(
    accepted({ beta: Number.POSITIVE_INFINITY, at: [Number.NaN] }, { beta: 1, at: [0] }),
    {},
  );
  const values = decode("#r1:editing?__proto__={}&toString=1")?.values ?? {};
  assert.deepEqual(Object.keys(accepted(values, { beta: 1 })), []);
});

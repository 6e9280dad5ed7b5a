// An explorer's state in the page's address, such as "#r1:editing?q=few&ridge=0.1". The address names a question and
// the settings that differ from the question's or, without a question, from the opening settings.

/** The request of an address: the explorer's name, the values of settings by name, and the key of a question. */
/** @typedef {{ name: string, values: Record<string, unknown>, question: string | null }} Request */
/**
 * The parts of an explorer that addresses depend on: its opening settings, its questions, `next`, which applies a
 * patch, `admits`, which checks a value, and `aside`, the names of settings that no question depends on.
 *
 * @template {object} S
 * @template {{ key: string, set: S }} P
 * @typedef {{
 *   name: string,
 *   opening: S,
 *   presets: P[],
 *   next(base: S, patch: Partial<S>): S,
 *   admits?(name: keyof S & string, value: any): boolean,
 *   aside?: string[],
 * }} Known
 */

const PATTERN = /^#?r1:([a-z][a-z0-9_-]*)(?:\?(.*))?$/s;
const QUESTION = "q";
const FIGURES = 6; // significant digits of a number that is not whole
const LONGEST = 4000; // entries of a list in an address, at most

/**
 * @param {string} hash As in `location.hash`.
 * @returns {Request | null} Null if the address belongs to no explorer.
 */
export function decode(hash) {
  const match = PATTERN.exec(hash);
  if (!match) return null;
  /** @type {Record<string, unknown>} */
  const values = Object.create(null);
  let question = null;
  for (const pair of (match[2] ?? "").split("&")) {
    const [name, value] = parted(pair);
    if (name === QUESTION) question = value;
    else if (name && value !== null) values[name] = read(value);
  }
  return { name: match[1], values, question };
}

/** @type {(pair: string) => [name: string, value: string | null]} */
function parted(pair) {
  const at = pair.indexOf("=");
  try {
    return at < 1 ? ["", null] : [pair.slice(0, at), decodeURIComponent(pair.slice(at + 1))];
  } catch {
    return ["", null]; // the address was cut within an encoded letter
  }
}

/** @param {string} text */
function read(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** @type {(name: string, values: Record<string, unknown>, question?: string | null) => string} */
export function encode(name, values, question = null) {
  const pairs = Object.entries(values).map(([key, value]) => `${key}=${written(value)}`);
  if (question !== null) pairs.unshift(`${QUESTION}=${encodeURIComponent(question)}`);
  return `#r1:${name}?${pairs.join("&")}`;
}

/** @param {unknown} value */
function written(value) {
  const bare = typeof value === "string" && read(value) === value;
  const text = bare ? value : JSON.stringify(value, rounded);
  return encodeURIComponent(text).replaceAll("%2C", ",").replaceAll("%3A", ":");
}

/** @type {(name: string, value: unknown) => unknown} */
const rounded = (_, value) =>
  typeof value === "number" && !Number.isInteger(value)
    ? Number(value.toPrecision(FIGURES))
    : value;

/**
 * A patch with which `next` turns `base` into `settings`: the settings that differ from `base`, and those that `next`
 * would otherwise set to another value.
 *
 * @template {object} S
 * @param {S} settings
 * @param {S} base
 * @param {(base: S, patch: Partial<S>) => S} next
 * @returns {Partial<S>}
 */
export function difference(settings, base, next) {
  const patch = unlike(settings, base);
  return { ...patch, ...unlike(settings, next(base, patch)) };
}

/**
 * The values of `settings` that differ from those of `base`.
 *
 * @template {object} S
 * @param {S} settings
 * @param {S} base
 * @returns {Partial<S>}
 */
const unlike = (settings, base) =>
  /** @type {Partial<S>} */ (
    Object.fromEntries(
      Object.entries(settings).filter(
        ([name, value]) =>
          JSON.stringify(value) !== JSON.stringify(base[/** @type {keyof S} */ (name)]),
      ),
    )
  );

/**
 * The values of an address that belong to a setting, are of its kind and pass `admits`. The others are dropped.
 *
 * @template {object} S
 * @param {Record<string, unknown>} values
 * @param {S} like Settings of the right kind.
 * @param {(name: keyof S & string, value: any) => boolean} [admits] True if a setting may have this value.
 * @returns {Partial<S>}
 */
export function accepted(values, like, admits = () => true) {
  const entries = Object.entries(values).filter(
    ([name, value]) =>
      Object.hasOwn(like, name) &&
      isLike(value, like[/** @type {keyof S} */ (name)]) &&
      admits(/** @type {keyof S & string} */ (name), value),
  );
  return /** @type {Partial<S>} */ (Object.fromEntries(entries));
}

/**
 * True if `value` is of the same kind as `like`: a finite number, a list of as many numbers, a list of such lists, …
 *
 * @type {(value: unknown, like: unknown) => boolean}
 */
export function isLike(value, like) {
  if (typeof like === "number") return Number.isFinite(value);
  if (Array.isArray(like)) return Array.isArray(value) && isLikeList(value, like);
  if (like === null) return value === null || typeof value !== "object";
  if (typeof like !== "object") return typeof value === typeof like;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return sameNames(value, like) && Object.entries(like).every(([k, v]) => isLike(at(value, k), v));
}

/** @type {(value: object, name: string) => unknown} */
const at = (value, name) => /** @type {Record<string, unknown>} */ (value)[name];

/** @type {(a: object, b: object) => boolean} */
const sameNames = (a, b) => `${Object.keys(a).sort()}` === `${Object.keys(b).sort()}`;

/** @type {(value: unknown[], like: unknown[]) => boolean} */
function isLikeList(value, like) {
  if (value.length > LONGEST) return false;
  if (like.length === 0) return true; // nothing to compare with: `admits` decides
  const lone = typeof like[0] !== "object"; // such as the coordinates of a point: their number must agree
  return (!lone || value.length === like.length) && value.every((v) => isLike(v, like[0]));
}

/**
 * The values that an explorer's settings may have. The file `settings/NAME.json` of the Python package defines them,
 * and Python reads the same file. Numbers and counts (integers) lie between two ends, a choice is one of a list, a list
 * contains counts, and points are a nested list of a shape (null: any length up to `most`), with entries within
 * ±`reach`.
 *
 * @typedef {{
 *   numbers?: Record<string, number[]>,
 *   counts?: Record<string, number[]>,
 *   choices?: Record<string, unknown[]>,
 *   lists?: Record<string, number[]>,
 *   points?: Record<string, Shape>,
 * }} Rules
 */
/** @typedef {{ shape: (number | null)[], reach: number, most?: number }} Shape */

/**
 * The `admits` of an explorer with these rules. A setting that the rules do not name is admitted.
 *
 * @param {Rules} rules
 * @returns {(name: string, value: any) => boolean}
 */
export const within =
  ({ numbers = {}, counts = {}, choices = {}, lists = {}, points = {} }) =>
  (name, value) => {
    if (Object.hasOwn(choices, name)) return choices[name].includes(value);
    if (Object.hasOwn(numbers, name)) return isBetween(value, numbers[name]);
    if (Object.hasOwn(counts, name)) return isCount(value, counts[name]);
    if (Object.hasOwn(lists, name)) {
      return Array.isArray(value) && value.every((one) => isCount(one, lists[name]));
    }
    return !Object.hasOwn(points, name) || hasShape(value, points[name]);
  };

/** @type {(value: unknown, ends: number[]) => boolean} */
const isBetween = (value, [low, high]) =>
  typeof value === "number" && value >= low && value <= high;

/** @type {(value: unknown, ends: number[]) => boolean} */
const isCount = (value, ends) => Number.isInteger(value) && isBetween(value, ends);

/** @type {(value: unknown, shape: Shape) => boolean} */
function hasShape(value, { shape: [length, ...inner], reach, most = Number.POSITIVE_INFINITY }) {
  if (length === undefined) return isBetween(value, [-reach, reach]);
  if (!Array.isArray(value) || value.length === 0) return false;
  if (length === null ? value.length > most : value.length !== length) return false;
  return value.every((entry) => hasShape(entry, { shape: inner, reach }));
}

/**
 * True if two settings are equal, whatever the order of their names.
 *
 * @param {object} a
 * @param {object} b
 */
export const same = (a, b) =>
  JSON.stringify(Object.entries(a).sort()) === JSON.stringify(Object.entries(b).sort());

/**
 * The preset with these settings, or null. The settings named in `aside` are not compared.
 *
 * @template {{ set: object }} P
 * @param {P[]} presets
 * @param {object} settings
 * @param {string[]} [aside] Names of settings that no question depends on.
 */
export function presetOf(presets, settings, aside = []) {
  /** @param {object} all */
  const asked = (all) =>
    Object.fromEntries(Object.entries(all).filter(([name]) => !aside.includes(name)));
  return presets.find(({ set }) => same(asked(set), asked(settings))) ?? null;
}

/**
 * The address of the current state: what differs from the current question or, without one, from the opening settings.
 *
 * @template {object} S
 * @template {{ key: string, set: S }} P
 * @param {{ settings: S, preset: P | null }} now
 * @param {Known<S, P>} known
 */
export function addressOf({ settings, preset }, { name, opening, next }) {
  const question = preset && !same(preset.set, opening) ? preset : null;
  return encode(name, difference(settings, question?.set ?? opening, next), question?.key);
}

/**
 * The settings that an address requests, their preset (the address's own question, or else the one with these settings)
 * and `isBare`, true if the address names a question and changes no setting.
 *
 * @template {object} S
 * @template {{ key: string, set: S }} P
 * @param {Request} request
 * @param {Known<S, P>} known
 */
export function requested({ values, question }, { opening, presets, next, admits, aside }) {
  const chosen = presets.find(({ key }) => key === question) ?? null;
  const base = chosen?.set ?? opening;
  const patch = accepted(values, base, admits);
  const isBare = Object.keys(patch).length === 0;
  const settings = isBare ? { ...base } : next(base, patch);
  return {
    settings,
    preset: chosen ?? presetOf(presets, settings, aside),
    isBare: isBare && !!chosen,
  };
}

/**
 * The keys of the questions of a lecture, from the page's address (`?lecture=editing:start,cycle`); null if the address
 * requests no lecture of this explorer.
 *
 * @type {(search: string, name: string) => string[] | null}
 */
export function lectureIn(search, name) {
  const [asked, keys = ""] = new URLSearchParams(search).get("lecture")?.split(":") ?? [];
  return asked === name ? keys.split(",").filter(Boolean) : null;
}

/**
 * The presets with these keys, in the order of the keys; all presets if no key is known.
 *
 * @template {{ key: string }} P
 * @param {P[]} presets
 * @param {string[]} keys
 */
export function inOrder(presets, keys) {
  const matches = keys.flatMap((key) => presets.filter((preset) => preset.key === key));
  return matches.length ? matches : presets;
}

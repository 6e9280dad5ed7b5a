// Numbers as the book sets them.

const superscript = (n) =>
  String(n).replace(/./g, (c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"["0123456789".indexOf(c)] ?? "⁻");

/** 0.117, −2.00, 7.24·10⁻⁶, 10⁻⁸. */
export function figure(v, digits = 3) {
  if (v === 0) return "0";
  if (!Number.isFinite(v)) return "out of range";
  if (Math.abs(v) >= 1e-3 && Math.abs(v) < 1e5) return v.toPrecision(digits).replace("-", "−");
  const [lead, exponent] = v.toExponential(digits - 1).split("e");
  const power = `10${superscript(Number(exponent))}`;
  return Number(lead) === 1 ? power : `${lead.replace("-", "−")}·${power}`;
}

const NOISE = 1e-12;

/** As `figure`, for what is of size 1: a value that only rounding keeps from zero reads 0. */
export const rounded = (v, digits = 3) => figure(Math.abs(v) < NOISE ? 0 : v, digits);

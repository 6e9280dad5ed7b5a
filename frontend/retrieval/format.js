// Numbers as the page writes them.

const MOST = 1e5; // energies and distances of pictures are of the order of 1

/** Two figures; "none" where there is no such number. */
export function figures(v) {
  if (v === null || v === undefined) return "none";
  if (!(Math.abs(v) < MOST)) return "off every scale";
  const digits = { minimumSignificantDigits: 2, maximumSignificantDigits: 2 };
  return v.toLocaleString("en-GB", digits).replace("-", "−");
}

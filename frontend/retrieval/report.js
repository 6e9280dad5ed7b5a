// What a step shows, in names and words.
import { figures } from "./format.js";

function signed(v) {
  if (!(Math.abs(v) < 10)) return figures(v);
  return v
    .toFixed(4)
    .replace(/^-0\.0+$/, "0.0000")
    .replace("-", "−");
}

function apart(v) {
  if (v === 0) return "0";
  return v < 1e-3 ? "below 0.001" : figures(v);
}

/** Which stored picture each state is nearest to, whether that is the right one, and how far from the truth it is. */
export function findings(at, settings, ready, library) {
  const of = (index, error) => ({
    label: library.label(settings.collection, settings.stored[index]),
    right: ready.isStored && index === ready.wanted && error < 1,
    outside: !(error < 1), // two pictures in [0, 1] are never that far apart
    error,
  });
  return {
    exact: of(at.nearestExact, at.errorExact),
    distributed: of(at.nearestDistributed, at.errorDistributed),
  };
}

/** One line for those who listen. */
export function inWords(step, at, found) {
  const name = ({ label, right, outside }) =>
    outside ? "none, outside the range of pictures" : `${label} (${right ? "right" : "wrong"})`;
  return (
    `Step ${step}. Exact: energy ${signed(at.energyExact)}, nearest ${name(found.exact)}. ` +
    `Distributed: ${signed(at.energyDistributed)}, ${name(found.distributed)}. ` +
    `Distance ${apart(at.distance)}.`
  );
}

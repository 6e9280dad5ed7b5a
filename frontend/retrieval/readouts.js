// Two numbers that help to predict a run: the signal at the query divided by the noise of T, and the number of pictures
// that the exact memory mixes where it rests.
import { gauge } from "../kit/gauge.js";
import { figures as inFigures } from "../kit/number.js";

export function createReadouts() {
  const noise = gauge({
    label: "Signal over noise",
    min: 0.03,
    max: 30,
    format: (v) => (v < 0.001 ? "< 0.001" : inFigures(v, 2)),
    zones: [
      { from: 0, word: "noise", say: "step 1 follows the noise" },
      { from: 0.7, word: "unsure", say: "signal or noise may win" },
      {
        from: 2,
        word: "clear",
        say: "step 1 follows the signal",
      },
    ],
  });
  noise.element.title =
    "Slope of the well at the query over slope of the noise, s·√(−2 ln s) / c, where s is Ŝ, or 0.61 if Ŝ is larger, and c is the roughness; then divided by its critical value √(η / (2 − η)). Above 1 the first step comes nearer. It is read off T and the query before the first step. It does not know the answer, nor whether the signal is of one picture or of several.";
  const blend = gauge({
    label: "Pictures mixed",
    min: 1,
    max: 24,
    format: (v) => inFigures(v, 2),
    zones: [
      { from: 1, word: "one", say: "one picture alone" },
      { from: 1.5, word: "some", say: "a few pictures" },
      { from: 3, word: "a blend", say: "a blend of several" },
    ],
  });
  blend.element.title =
    "1/Σp² with the softmax weights p where the exact memory rests: how many stored patterns that state is a mean of. A larger β leaves fewer patterns in the mean.";
  blend.element.classList.add("r1-turned"); // here the high end is the bad one
  return {
    /** Hides both numbers until the reader has made a prediction. */
    wait() {
      noise.element.hidden = true;
      blend.element.style.visibility = "hidden";
    },
    elements: [noise.element, blend.element],
    /** @type {(pull: number | null, mixed: number) => void} */
    show(pull, mixed) {
      blend.element.style.visibility = "";
      noise.element.hidden = pull === null;
      if (pull !== null) noise.show(pull);
      blend.show(mixed);
    },
  };
}

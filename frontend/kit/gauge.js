// One number on a logarithmic band with named zones: read by position and by words, never by colour alone.
import { h, setAttributes, setText, uid } from "./dom.js";
import { bounded } from "./number.js";

/**
 * Zones in rising order, the first from `min`; `format` writes the value.
 *
 * @param {{
 *   label: string,
 *   min: number,
 *   max: number,
 *   zones: { from: number, word: string, say: string }[],
 *   format(v: number): string,
 * }} options
 */
export function gauge({ label, min, max, zones, format }) {
  const id = uid();
  /** @param {number} v */
  const share = (v) => (100 * Math.log(bounded(v, min, max) / min)) / Math.log(max / min);
  const value = h("strong", { class: "r1-gauge-value" });
  const words = h("span", { class: "r1-gauge-words" });
  const needle = h("span", { class: "r1-needle" });
  const bands = zones.map(({ from, word }, i) => {
    const left = share(from);
    const right = i + 1 < zones.length ? share(zones[i + 1].from) : 100;
    const style = `left:${left}%;width:${right - left}%`;
    return h("span", { class: `r1-zone r1-zone-${i}`, style }, word);
  });
  const band = h("div", { class: "r1-band", role: "meter", "aria-labelledby": id }, bands, needle);
  const element = h(
    "div",
    { class: "r1-gauge" },
    h("div", { class: "r1-gauge-head" }, h("span", { id }, label), value, words),
    band,
  );
  return {
    element,
    /** @param {number} v */
    show(v) {
      const zone = zones.findLast(({ from }) => v >= from) ?? zones[0];
      setText(value, format(v));
      setText(words, zone.say);
      needle.style.left = `${share(v)}%`;
      setAttributes(band, {
        "aria-valuemin": min,
        "aria-valuemax": max,
        "aria-valuenow": bounded(v, min, max),
        "aria-valuetext": `${format(v)}: ${zone.say}`,
      });
    },
  };
}

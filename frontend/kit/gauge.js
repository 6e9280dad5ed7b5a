// One number on a logarithmic band with named zones: read by position and by words, never by colour alone.
import { h, setText, uid } from "./dom.js";

/** zones: [{ from, word, say }] in rising order, the first from `min`; `format` writes the value. */
export function gauge({ label, min, max, zones, format }) {
  const id = uid();
  const share = (v) =>
    (100 * Math.log(Math.min(max, Math.max(min, v)) / min)) / Math.log(max / min);
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
    show(v) {
      const zone = zones.findLast(({ from }) => v >= from) ?? zones[0];
      setText(value, format(v));
      setText(words, zone.say);
      needle.style.left = `${share(v)}%`;
      band.setAttribute("aria-valuemin", min);
      band.setAttribute("aria-valuemax", max);
      band.setAttribute("aria-valuenow", Math.min(max, Math.max(min, v)));
      band.setAttribute("aria-valuetext", `${format(v)}: ${zone.say}`);
    },
  };
}

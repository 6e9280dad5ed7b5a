// The colours of an energy landscape: from low to high, of its level lines, and of the hatching where it is unknown.

/** @typedef {{ low: number[], high: number[], line: number[], hatch: number[] }} Palette */

/** @type {Record<"light" | "dark", Palette>} */
export const PALETTES = {
  light: {
    low: [122, 152, 184],
    high: [255, 255, 255],
    line: [104, 128, 154],
    hatch: [120, 120, 128],
  },
  dark: { low: [4, 8, 16], high: [84, 98, 116], line: [112, 128, 148], hatch: [150, 150, 160] },
};

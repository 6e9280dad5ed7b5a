// The effect of the memory on the base's risk, in words.

/**
 * The effect in words; a difference that is only rounding counts as none.
 *
 * @param {{ base: number, memory: number }} risks
 */
export function verdict({ base, memory }) {
  if (Math.abs(memory - base) < 1e-12) return "The memory changes nothing";
  return memory < base ? "The memory helps" : "The memory hurts";
}

// Long work in slices between frames, so that the page does not wait for it.

/**
 * Runs one generator at a time; starting another stops the previous one. `onSlice(done, milliseconds)` is called after
 * each slice of `budget` milliseconds, with the generator's return value (null until the generator is done) and the
 * duration of the slice. Work begins after `pause` milliseconds, because it would be useless while a slider moves.
 *
 * @template T
 * @param {{ budget: number, pause: number, onSlice(done: { value: T } | null, milliseconds: number): void }} options
 */
export function createBackground({ budget, pause, onSlice }) {
  let timer = 0;
  return {
    /** @param {Generator<unknown, T, void>} work */
    start(work) {
      clearTimeout(timer);
      const slice = () => {
        const begun = performance.now();
        let next = work.next();
        while (!next.done && performance.now() - begun < budget) next = work.next();
        if (!next.done) timer = Number(setTimeout(slice, 0));
        onSlice(next.done ? { value: next.value } : null, performance.now() - begun);
      };
      timer = Number(setTimeout(slice, pause));
    },
    stop: () => clearTimeout(timer),
  };
}

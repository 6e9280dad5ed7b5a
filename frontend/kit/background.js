// Long work in slices between two frames, so that nothing waits for it.

/**
 * Runs one generator at a time; a new one ends the last. `onSlice(value)` is called after each slice of `budget`
 * milliseconds, with what the generator returned once it is done, else null, and the time it took. Work begins after
 * `pause` milliseconds: while a slider moves there is no use in it.
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

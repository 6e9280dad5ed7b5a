// Long work in slices between two frames, so that nothing waits for it.

/**
 * Runs one generator at a time; a new one ends the last. `onSlice(value)` is called after each slice of `budget`
 * milliseconds, with what the generator returned once it is done, else undefined. Work begins after `pause`
 * milliseconds: while a slider moves there is no use in it.
 *
 * @template T
 * @param {{ budget: number, pause: number, onSlice(done: { value: T } | null): void }} options
 */
export function createBackground({ budget, pause, onSlice }) {
  let timer = 0;
  return {
    /** @param {Generator<unknown, T, void>} work */
    start(work) {
      clearTimeout(timer);
      const slice = () => {
        const until = performance.now() + budget;
        let next = work.next();
        while (!next.done && performance.now() < until) next = work.next();
        if (!next.done) timer = Number(setTimeout(slice, 0));
        onSlice(next.done ? { value: next.value } : null);
      };
      timer = Number(setTimeout(slice, pause));
    },
    stop: () => clearTimeout(timer),
  };
}

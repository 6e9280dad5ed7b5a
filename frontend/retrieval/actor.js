// The simulation behind messages: in a Web Worker, or in slices on the page's own thread where none can be made.
import { Simulation } from "./simulation.js";

const SLICE = 10; // milliseconds of work between two looks at the mailbox
const KEPT = 48; // patterns remembered, so that a picture crosses to the worker once

/** Returns the actor's `receive`; it answers through `post(message, transferred)`. */
export function createActor(post) {
  const simulation = new Simulation();
  const pictures = new Map();
  let timer = null;
  let goal = 0;

  const handlers = {
    configure({ version, config, pictures: sent }) {
      stop();
      for (const [id, values] of sent) pictures.set(id, values);
      const patterns = config.ids.map((id) => ({ id, values: pictures.get(id) }));
      forget(pictures, config.ids);
      const begun = performance.now();
      const start = simulation.configure({ ...config, patterns });
      const milliseconds = performance.now() - begun;
      post({ type: "ready", version, start, milliseconds });
      send([frame()], 0);
    },
    run({ until }) {
      goal = until;
      timer ??= setTimeout(slice, 0);
    },
    pause: stop,
    state({ request }) {
      const { x, xHat, step } = simulation;
      post({ type: "state", request, value: { x: x.slice(), xHat: xHat.slice(), step } });
    },
  };

  function stop() {
    clearTimeout(timer);
    timer = null;
  }

  /** As many steps as fit in a slice; then their frames go out in one message. */
  function slice() {
    const begun = performance.now();
    const frames = [];
    while (simulation.step < goal && performance.now() - begun < SLICE) {
      simulation.advance();
      frames.push(frame());
    }
    if (frames.length > 0) send(frames, performance.now() - begun);
    const finished = simulation.step >= goal;
    timer = finished ? null : setTimeout(slice, 0);
    if (finished) post({ type: "done", step: simulation.step });
  }

  function frame() {
    const bytes = new Uint8ClampedArray(2 * simulation.config.D);
    simulation.pixels(bytes);
    return { step: simulation.step, record: simulation.record(), bytes };
  }

  function send(frames, milliseconds) {
    const transferred = frames.map(({ bytes }) => bytes.buffer);
    post({ type: "frames", frames, milliseconds }, transferred);
  }

  return (message) => {
    try {
      handlers[message.type](message);
    } catch (error) {
      stop();
      post({ type: "error", message: String(error?.message ?? error) });
    }
  };
}

function forget(pictures, wanted) {
  for (const id of pictures.keys()) {
    if (pictures.size <= KEPT) return;
    if (!wanted.includes(id)) pictures.delete(id);
  }
}

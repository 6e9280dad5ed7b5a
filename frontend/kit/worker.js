// A worker created from a string, so that a widget stays one file. Without a worker, the page's own thread does all.

/** @typedef {{ type: "error", message: string }} Failure */
/**
 * @template Question
 * @typedef {{ inWorker: boolean, post(message: Question): void, close(): void }} Link
 */
/**
 * @template Question, Answer
 * @typedef {(post: (message: Answer, transferred?: Transferable[]) => void) => (message: Question | { type: "pause" }) => void} ActorMaker
 */

/**
 * Runs `source` in a Web Worker. If the page cannot create a worker (an old browser, a strict content policy),
 * `createActor(post)` runs in the page, and must return to the event loop often. `receive` gets the answers of either.
 *
 * @template {object} Question, Answer
 * @param {string} source
 * @param {ActorMaker<Question, Answer | Failure>} createActor
 * @param {(answer: Answer | Failure) => void} receive
 * @returns {Link<Question>}
 */
export function connect(source, createActor, receive) {
  /** @type {Link<Question>} */
  const link = { inWorker: true, post() {}, close() {} };
  /** @type {Question[]} */
  const unanswered = []; // posted before the first answer; a worker that fails to start has lost them
  const here = () => {
    Object.assign(link, connectHere(createActor, receive));
    for (const message of unanswered.splice(0)) link.post(message);
  };
  try {
    const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    const worker = new Worker(url);
    let answered = false;
    worker.onmessage = ({ data }) => {
      answered = true;
      unanswered.length = 0;
      receive(data);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      if (!answered) here();
      else receive({ type: "error", message: event.message ?? "The worker stopped." });
    };
    link.post = (message) => {
      if (!answered) unanswered.push(message);
      worker.postMessage(message);
    };
    link.close = () => {
      worker.terminate();
      URL.revokeObjectURL(url);
    };
  } catch {
    here();
  }
  return link;
}

/**
 * Messages pass through a channel, as to a worker, because with timers an old answer could overtake a new one.
 *
 * @template {object} Question, Answer
 * @param {ActorMaker<Question, Answer>} createActor
 * @param {(answer: Answer) => void} receive
 * @returns {Link<Question>}
 */
function connectHere(createActor, receive) {
  const { port1: page, port2: actor } = new MessageChannel();
  const act = createActor((message, transferred) => actor.postMessage(message, transferred ?? []));
  page.onmessage = ({ data }) => receive(data);
  actor.onmessage = ({ data }) => act(data);
  return {
    inWorker: false,
    post: (message) => page.postMessage(message),
    close() {
      act({ type: "pause" });
      page.close();
    },
  };
}

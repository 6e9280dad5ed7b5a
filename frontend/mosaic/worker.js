// The entry point of a Web Worker that runs the actor.
import { createActor } from "./actor.js";

const receive = createActor((message, transfer) => self.postMessage(message, { transfer }));
self.onmessage = ({ data }) => receive(data);

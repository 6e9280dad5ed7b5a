// The work in a Web Worker of its own.
import { createActor } from "./actor.js";

const receive = createActor((message, transfer) => self.postMessage(message, { transfer }));
self.onmessage = ({ data }) => receive(data);

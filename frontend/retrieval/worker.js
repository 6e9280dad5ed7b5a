import { createActor } from "./actor.js";

const receive = createActor((message, transferred) => self.postMessage(message, transferred ?? []));
self.onmessage = ({ data }) => receive(data);

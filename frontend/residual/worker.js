// The measuring in a Web Worker of its own.
import { createMeasurer } from "./measurer.js";

const receive = createMeasurer(30)((message) => self.postMessage(message));
self.onmessage = ({ data }) => receive(data);

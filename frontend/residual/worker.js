// The entry point of a Web Worker that runs the measurer.
import { createMeasurer } from "./measurer.js";

const receive = createMeasurer(30)((message) => self.postMessage(message));
self.onmessage = ({ data }) => receive(data);

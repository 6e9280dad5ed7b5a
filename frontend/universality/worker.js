// The entry point of a Web Worker that runs the fitter.
import { createFitter } from "./fitter.js";

const receive = createFitter((message) => self.postMessage(message));
self.onmessage = ({ data }) => receive(data);

import { Worker } from "node:worker_threads";

type Tell = (this: Worker, message: { readonly kind: string }) => void;

// Run as a process: the service, whose worker ends as soon as a sync is requested.
const tell = Reflect.get(Worker.prototype, "postMessage") as Tell;
Worker.prototype.postMessage = function (message: { readonly kind: string }) {
  if (message.kind === "sync") void this.terminate();
  else tell.call(this, message);
};
await import("../../../app/main.ts");

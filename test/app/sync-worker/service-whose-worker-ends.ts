import { Worker } from "node:worker_threads";

// Run as a process: the service, whose worker ends as soon as a sync is requested.
const tell = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (message: { readonly kind: string }) {
  if (message.kind === "sync") void this.terminate();
  else tell.call(this, message);
};
await import("../../../app/main.ts");

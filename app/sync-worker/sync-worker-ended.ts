import { Data } from "effect";

/** The worker that syncs ended without being asked. Nothing brings the index up to the ledger any more. */
export class SyncWorkerEnded extends Data.TaggedError("SyncWorkerEnded")<{
  readonly reason: string;
}> {
  override get message() {
    return `The worker that syncs the index ended unexpectedly: ${this.reason}`;
  }
}

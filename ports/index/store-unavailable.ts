import { Data } from "effect";

/** The store could not be read or written. */
export class StoreUnavailable extends Data.TaggedError("StoreUnavailable")<{
  readonly retryable: boolean;
  readonly cause: unknown;
}> {}

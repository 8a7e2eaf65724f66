import { Data } from "effect";

/** What keeps a store from being used. It holds no path, address or credentials, so that anybody may read it. */
export type StoreFault = {
  /** What is wrong, the end of a sentence about the store. */
  readonly problem: string;
  /** What the operator can do about it: one sentence. */
  readonly cure: string;
};

const reasonOf = (cause: unknown): string =>
  cause instanceof Error ? cause.message : String(cause);

/** The store could not be read or written. `message` tells the operator where, why and what to do, as far as these are known. */
export class StoreUnavailable extends Data.TaggedError("StoreUnavailable")<{
  readonly retryable: boolean;
  readonly cause: unknown;
  /** The store's file, folder or address without credentials. */
  readonly store?: string | undefined;
  readonly fault?: StoreFault | undefined;
}> {
  override get message(): string {
    const store = this.store ?? "The store (at DATABASE_URL, or else in DATA_DIR)";
    const reason = reasonOf(this.cause);
    return this.fault === undefined
      ? `${store} cannot be used: ${reason}`
      : `${store} cannot be used: ${this.fault.problem} (${reason}). ${this.fault.cure}`;
  }
}

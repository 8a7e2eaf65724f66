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

/**
 * The store could not be read or written. `message` tells the operator where, why and what to do, as far as these are
 * known.
 */
export class StoreUnavailable extends Data.TaggedError("StoreUnavailable")<{
  readonly retryable: boolean;
  readonly cause: unknown;
  /** The store's file, folder or address without credentials. */
  readonly store?: string | undefined;
  readonly fault?: StoreFault | undefined;
}> {
  override get message(): string {
    const store = this.store ?? "The store (at DATABASE_URL, or else in DATA_DIR)";
    return `${store} cannot be used: ${storeFaultText(this)}`;
  }
}

/** Why a store cannot be used and what to do, as far as these are known: the end of a message about it. */
export const storeFaultText = ({
  cause,
  fault,
}: Pick<StoreUnavailable, "cause" | "fault">): string =>
  fault === undefined ? reasonOf(cause) : `${fault.problem} (${reasonOf(cause)}). ${fault.cure}`;

/** Another version of the service wrote the store: schemas begin at version 1. Nothing in it was changed. */
export class StoreTooNew extends Data.TaggedError("StoreTooNew")<{
  /** The store's file or address without credentials. */
  readonly store: string;
  readonly found: number;
  readonly supported: number;
}> {
  override get message() {
    return `${this.store} has schema version ${this.found}; this version of the service knows version ${this.supported}. Use the service that wrote it, or another store: another DATA_DIR, or another ?schema= in DATABASE_URL. The service then builds the index anew from the ledger.`;
  }
}

/** The store belongs to another ledger or to other programs. Rows of two ledgers are never mixed. */
export class StoreOfAnotherLedger extends Data.TaggedError("StoreOfAnotherLedger")<{
  readonly store: string;
  /** The differing fields, each with the store's value and the configured one. */
  readonly differences: ReadonlyArray<{
    readonly field: "genesis_hash" | "custody_program" | "attestor_program";
    readonly stored: string;
    readonly configured: string;
  }>;
}> {
  override get message() {
    const list = this.differences.map(
      (d) => `${d.field} is ${d.stored}, but ${d.configured} is configured`,
    );
    return `${this.store} holds the index of another ledger: ${list.join("; ")}. Use another store for this ledger.`;
  }
}

/** The store is damaged, or is not a store of this service. */
export class StoreCorrupt extends Data.TaggedError("StoreCorrupt")<{
  readonly store: string;
  readonly reason: string;
  readonly cause?: unknown;
}> {
  override get message() {
    return `${this.store} cannot be used as a store: ${this.reason}. Move it away and start again; the index is rebuilt from the ledger.`;
  }
}

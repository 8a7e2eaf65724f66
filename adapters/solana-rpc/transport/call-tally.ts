import { Effect } from "effect";
import {
  CallPurpose,
  type LedgerCallCount,
  type LedgerPurpose,
} from "../../../ports/ledger/ledger-calls.ts";

/** Counts the calls of nodes by method and by what they are for. */
export class CallTally {
  readonly #counts = new Map<string, Map<LedgerPurpose, number>>();

  /** Counts calls of one method for what the running fiber's calls are for. */
  count(method: string, calls = 1): Effect.Effect<void> {
    return Effect.map(CallPurpose, (purpose) => {
      const ofMethod = this.#counts.get(method) ?? new Map<LedgerPurpose, number>();
      this.#counts.set(method, ofMethod);
      ofMethod.set(purpose, (ofMethod.get(purpose) ?? 0) + calls);
    });
  }

  /** All counts so far, in the order of the first calls. */
  get counts(): ReadonlyArray<LedgerCallCount> {
    return [...this.#counts].flatMap(([method, ofMethod]) =>
      [...ofMethod].map(([purpose, calls]) => ({ method, purpose, calls })),
    );
  }
}

import { Context, Effect } from "effect";
import type { Address } from "../../domain/address.ts";
import type { LedgerAccount } from "../../domain/ledger/account.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import type { LedgerSignature } from "../../domain/ledger/signature.ts";
import { RecentlyUsed } from "../../domain/recently-used.ts";
import type { LandedTransaction, RelayEntry } from "../../domain/relay/relay-entry.ts";
import {
  type RelayedEffect,
  relayedEffects,
  signOfEffect,
} from "../../protocol/transaction/transaction-effects.ts";
import { decodeWireTransaction } from "../../protocol/transaction/wire-transaction.ts";
import type { Commitment } from "../../../ports/ledger/ledger.ts";

/** Where an account was read. */
export type ReadPlace = { readonly slot: bigint; readonly commitment: Commitment };

/** The transactions whose effects are kept: at least this many, twice as many at most, at less than 1 KB each. */
const KEPT = 4_000;

/** How long a reader waits for the relay's log at the start, milliseconds: the store opens meanwhile. */
const RESUME_PATIENCE_MS = 1_000;

/**
 * An effect that this relay saw confirmed, and the slot of its transaction: null for one that an earlier process may
 * have seen.
 */
export type SeenEffect = RelayedEffect & {
  readonly signature: LedgerSignature;
  readonly slot: bigint | null;
};

/**
 * What this relay saw confirmed. A node that shows an older state under a newer slot contradicts it, before the index
 * has the event. The index decides once it is complete to the transaction's slot.
 */
export class RelayedEffects {
  readonly #deployment: Deployment;
  /** By transaction, until its outcome shows that it did nothing. */
  readonly #taken = new RecentlyUsed<LedgerSignature, ReadonlyArray<RelayedEffect>>(KEPT);
  readonly #seen = new RecentlyUsed<Address, ReadonlyArray<SeenEffect>>(KEPT);

  constructor(deployment: Deployment) {
    this.#deployment = deployment;
  }

  readonly #reading = Promise.withResolvers<void>();
  /** Whether the relay's log was read: until then nobody knows what an earlier process saw. */
  #isResumed = false;

  /** Records that the relay's log was read. */
  resumed(): void {
    this.#isResumed = true;
    this.#reading.resolve();
  }

  /** Whether the relay's log was read, after waiting for it for a while. */
  readonly whenResumed: Effect.Effect<boolean> = Effect.suspend(() =>
    this.#isResumed
      ? Effect.succeed(true)
      : Effect.timeoutOption(
          Effect.promise(() => this.#reading.promise),
          RESUME_PATIENCE_MS,
        ).pipe(Effect.map(() => this.#isResumed)),
  );

  /** Remembers what a transaction that is sent would do. */
  take({ signature, transaction }: Pick<RelayEntry, "signature" | "transaction">): void {
    if (this.#taken.get(signature) !== undefined) return;
    const decoded = decodeWireTransaction(transaction);
    const effects = "value" in decoded ? relayedEffects(decoded.value, this.#deployment) : null;
    const shown = (effects ?? []).filter(({ kind }) => kind !== "other");
    if (shown.length > 0) this.#taken.set(signature, shown);
  }

  /** What a transaction that is remembered would do, empty for any other. */
  effectsOf(signature: LedgerSignature): ReadonlyArray<RelayedEffect> {
    return this.#taken.get(signature) ?? [];
  }

  /** Remembers a transaction of an earlier process: what it would do may have been seen confirmed. */
  resume(entry: Pick<RelayEntry, "signature" | "transaction">): void {
    this.take(entry);
    this.#note(entry.signature, null);
  }

  /** Records where a transaction landed, null for one that no node knows. */
  landed(signature: LedgerSignature, landed: LandedTransaction | null): void {
    if (landed === null || landed.error !== null || landed.commitment === "processed") return;
    this.#note(signature, landed.slot);
  }

  /** Forgets a transaction that did nothing, or whose outcome nobody can tell. */
  forget(signature: LedgerSignature): void {
    for (const { subject } of this.#taken.get(signature) ?? []) {
      const seen = this.#seen.get(subject) ?? [];
      this.#seen.set(
        subject,
        seen.filter((effect) => effect.signature !== signature),
      );
    }
  }

  /**
   * An effect on an address that the account read there should show and does not; undefined when there is none. An
   * answer from before the transaction's slot need not show it.
   */
  missing(
    address: Address,
    account: LedgerAccount | null,
    { slot, commitment }: ReadPlace,
  ): SeenEffect | undefined {
    return this.#seen
      .get(address)
      ?.find(
        (effect) =>
          (effect.slot === null ? commitment === "confirmed" : slot >= effect.slot) &&
          signOfEffect(effect, account, this.#deployment) === "absent",
      );
  }

  #note(signature: LedgerSignature, slot: bigint | null): void {
    for (const effect of this.#taken.get(signature) ?? []) {
      const others = (this.#seen.get(effect.subject) ?? []).filter(
        (other) => other.signature !== signature || other.kind !== effect.kind,
      );
      this.#seen.set(effect.subject, [...others, { ...effect, signature, slot }]);
    }
  }
}

/** The process's `RelayedEffects`; null where there is no relay. */
export const RelayMemory = Context.Reference<RelayedEffects | null>(
  "settlement-evidence/core/use-cases/RelayMemory",
  { defaultValue: () => null },
);

import { Effect } from "effect";
import type { Address } from "../domain/address.ts";
import type { Escrow } from "../domain/escrow.ts";
import type { LedgerSignature } from "../domain/ledger-signature.ts";
import type { MerchantStatus } from "../domain/merchant.ts";
import { type EventKind, eventsOf } from "../domain/settlement-event.ts";
import type { NotFound } from "../protocol/evidence-references.ts";
import { EscrowIndex } from "../../ports/escrow-index.ts";

/** Where an event of an escrow is in the ledger's history. */
export type EventTransaction = {
  readonly signature: LedgerSignature;
  readonly slot: bigint;
  readonly kind: EventKind;
};

/** What a merchant's account says at present. */
export type MerchantStanding = {
  readonly name: string;
  readonly status: MerchantStatus;
  readonly currentAttestor: Address;
};

/** What can change or be pruned: outside of what is signed, checkable on the ledger by anyone. */
export type EvidenceReferences = {
  /** Where the index has seen the escrow's events in the ledger's history, oldest first. */
  readonly transactions: ReadonlyArray<EventTransaction>;
  /** The merchant's standing, null when its account could not be read. */
  readonly merchant: MerchantStanding | null;
  /** Where a Pending escrow was observed, null once settled. */
  readonly observed: { readonly slot: bigint; readonly commitment: "finalized" } | null;
  /** What could not be found: the merchant's account, or the transactions of events that the account proves. */
  readonly notFound: ReadonlyArray<NotFound>;
};

/**
 * The transactions of an escrow's events that the index knows; while the store does not answer, those that were
 * known before. An event's transaction never changes once the store has it.
 */
export const findTransactions = Effect.fnUntraced(function* (
  escrow: Escrow,
  before: ReadonlyArray<EventTransaction> = [],
) {
  const events = eventsOf(escrow);
  if (before.length === events.length) return before;
  const index = yield* EscrowIndex;
  const proved = new Set(events.map(({ id }) => id));
  const indexed = yield* Effect.orElseSucceed(index.eventsOfEscrow(escrow.address), () => []);
  const known = indexed.flatMap(({ event: { id, kind }, signature, slot }): EventTransaction[] =>
    signature === null || slot === null || !proved.has(id) ? [] : [{ signature, slot, kind }],
  );
  return known.length > before.length ? known : before;
});

/** The references of an escrow's packet, which name what of them is missing. */
export const referencesOf = (
  escrow: Escrow,
  found: Omit<EvidenceReferences, "notFound">,
): EvidenceReferences => {
  const missing = eventsOf(escrow)
    .map(({ kind }) => kind)
    .filter((kind) => found.transactions.every((known) => known.kind !== kind));
  return {
    ...found,
    notFound: [...(found.merchant === null ? (["merchant"] as const) : []), ...missing],
  };
};

import { Effect } from "effect";
import type { Address } from "../../domain/address.ts";
import type { Escrow } from "../../domain/escrow/escrow.ts";
import type { LedgerSignature } from "../../domain/ledger/signature.ts";
import type { MerchantStatus } from "../../domain/merchant/merchant.ts";
import { type EventKind, eventsOf } from "../../domain/index/settlement-event.ts";
import type { NotFound } from "../../protocol/evidence/evidence-references.ts";
import { EscrowIndex } from "../../../ports/escrow-index.ts";

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

/** Transactions, and at which revision of the store they were looked for; null where that is not known. */
export type FoundTransactions = {
  readonly transactions: ReadonlyArray<EventTransaction>;
  readonly revision: bigint | null;
};

/**
 * The transactions of an escrow's events that the index knows; while the store does not answer, those that were
 * known before. An event's transaction never changes once the store has it, and none is found where nothing was
 * written.
 */
export const findTransactions = Effect.fnUntraced(function* (
  escrow: Escrow,
  before: FoundTransactions = { transactions: [], revision: null },
) {
  const events = eventsOf(escrow);
  if (before.transactions.length === events.length) return before;
  const index = yield* EscrowIndex;
  // Asked before the events: what is written meanwhile then makes them be looked for once more.
  const revision = yield* Effect.orElseSucceed(index.revision, () => null);
  if (revision !== null && revision === before.revision) return before;
  const proved = new Set(events.map(({ id }) => id));
  const indexed = yield* Effect.orElseSucceed(index.eventsOfEscrow(escrow.address), () => null);
  if (indexed === null) return { ...before, revision: null };
  const known = indexed.flatMap(({ event: { id, kind }, signature, slot }): EventTransaction[] =>
    signature === null || slot === null || !proved.has(id) ? [] : [{ signature, slot, kind }],
  );
  const transactions = known.length > before.transactions.length ? known : before.transactions;
  const found: FoundTransactions = { transactions, revision };
  return found;
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

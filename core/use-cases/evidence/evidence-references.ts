import { Effect } from "effect";
import type { Address } from "../../domain/address.ts";
import type { Escrow } from "../../domain/escrow/escrow.ts";
import type { Hash32 } from "../../domain/hash32.ts";
import type { LedgerSignature } from "../../domain/ledger/signature.ts";
import type { MerchantStatus } from "../../domain/merchant/merchant.ts";
import { type EventKind, eventsOf } from "../../domain/index/settlement-event.ts";
import type { NotFound } from "../../protocol/evidence/evidence-references.ts";
import type { LogProof } from "../log/serving/read-log.ts";
import { IndexReader } from "../../../ports/index/index-reader.ts";

/** The transaction of an escrow's event in the ledger's history. */
export type EventTransaction = {
  readonly signature: LedgerSignature;
  readonly slot: bigint;
  readonly kind: EventKind;
};

/** The present state of a merchant's account. */
export type MerchantStanding = {
  readonly name: string;
  readonly status: MerchantStatus;
  readonly currentAttestor: Address;
};

/** The packet's unsigned part, which can change or be pruned. Anyone can check it on the ledger. */
export type EvidenceReferences = {
  /** The transactions of the escrow's events that the index knows, oldest first. */
  readonly transactions: ReadonlyArray<EventTransaction>;
  /** The merchant's standing, null when its account could not be read. */
  readonly merchant: MerchantStanding | null;
  /**
   * The slot at which a Pending escrow was read, or up to which the index is complete that a settled one comes from; null
   * for a settled one that a node showed.
   */
  readonly observed: { readonly slot: bigint; readonly commitment: "finalized" } | null;
  /** The digest of the account bytes that the ledger keeps once the escrow is archived, null before. */
  readonly archived: { readonly digest: Hash32 } | null;
  /** The proof that the log holds the account's last event; null while there is none. */
  readonly log: LogProof | null;
  /** What is missing: the merchant's account, or transactions of events that the account proves. */
  readonly notFound: ReadonlyArray<NotFound>;
};

/** Transactions, and the store's revision at which they were looked up; null when it is not known. */
export type FoundTransactions = {
  readonly transactions: ReadonlyArray<EventTransaction>;
  readonly revision: bigint | null;
};

/**
 * The transactions of an escrow's events that the index knows. While the store does not answer, it returns the
 * transactions found before. A known transaction never changes, and an unchanged store has no new ones.
 */
export const findTransactions = Effect.fnUntraced(function* (
  escrow: Escrow,
  before: FoundTransactions = { transactions: [], revision: null },
) {
  const events = eventsOf(escrow);
  if (before.transactions.length === events.length) return before;
  const index = yield* IndexReader;
  // Read before the events: a write in between then causes another look-up.
  const revision = yield* index.summary.pipe(
    Effect.map((summary) => summary.revision),
    Effect.orElseSucceed(() => null),
  );
  if (revision !== null && revision === before.revision) return before;
  const proved = new Set(events.map(({ id }) => id));
  const own = index.events({ escrow: escrow.address }, events.length, { after: 0n });
  const indexed = yield* Effect.orElseSucceed(own, () => null);
  if (indexed === null) return { ...before, revision: null };
  const proven = indexed.flatMap(({ event: { id, kind }, signature, slot }): EventTransaction[] =>
    signature === null || slot === null || !proved.has(id) ? [] : [{ signature, slot, kind }],
  );
  const transactions = proven.length > before.transactions.length ? proven : before.transactions;
  const result: FoundTransactions = { transactions, revision };
  return result;
});

/** The references of an escrow's packet, with a list of what is missing. */
export const referencesOf = (
  escrow: Escrow,
  references: Omit<EvidenceReferences, "notFound">,
): EvidenceReferences => {
  const missing = eventsOf(escrow)
    .map(({ kind }) => kind)
    .filter((kind) => references.transactions.every((transaction) => transaction.kind !== kind));
  return {
    ...references,
    notFound: [...(references.merchant === null ? (["merchant"] as const) : []), ...missing],
  };
};

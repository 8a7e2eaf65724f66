import { Effect } from "effect";
import type { Address } from "../../domain/address.ts";
import type { HistoryEntry } from "../../domain/ledger/history.ts";
import type { LedgerSignature } from "../../domain/ledger/signature.ts";
import type { FinalOutcome, RelayEntry } from "../../domain/relay/relay-entry.ts";
import type { TransactionError } from "../../domain/relay/transaction-outcome.ts";
import {
  hadEffect,
  type RelayedEffect,
  relayedEffects,
  showsEffect,
} from "../../protocol/transaction/relayed-effects.ts";
import { decodeWireTransaction } from "../../protocol/transaction/wire-transaction.ts";
import { Instance } from "../../../ports/instance.ts";
import { Ledger } from "../../../ports/ledger.ts";

/** Pages of an address's history per look-up, of up to 1000 transactions. */
const MOST_PAGES = 3;
/** Transactions that are read to find who else did what the transaction would have done. */
const MOST_CAUSES = 16;

/** A failure that a node's list tells without its reason. */
const UNKNOWN_ERROR: TransactionError = {
  kind: "Unknown",
  instructionIndex: null,
  instructionError: null,
  customCode: null,
};

/** Blocks for which a blockhash stays valid (Agave `clock.rs`: MAX_PROCESSING_AGE). */
const BLOCKHASH_AGE = 150n;

/** The finalized tip that an expiry is judged at. */
type Tip = { readonly slot: bigint; readonly blockHeight: bigint };

/** What one node lists of an address, newest first. */
type Listed = {
  readonly entries: ReadonlyArray<HistoryEntry>;
  /** Whether it lists something from before the transaction's first sending, so that its list covers the time since. */
  readonly reachesBack: boolean;
};

const listOf = Effect.fnUntraced(function* (address: Address, openedAtSlot: bigint) {
  const ledger = yield* Ledger;
  const entries: Array<HistoryEntry> = [];
  let reachesBack = false;
  let ended = false;
  let before: LedgerSignature | null = null;
  for (let page = 0; page < MOST_PAGES && !reachesBack && !ended; page++) {
    const next: Effect.Success<ReturnType<typeof ledger.history>> = yield* ledger.history(
      address,
      before,
    );
    entries.push(...next.entries);
    reachesBack = entries.some(({ slot }) => slot <= openedAtSlot);
    const last = next.entries.at(-1)?.signature ?? null;
    ended = last === null || last === before;
    before = last;
  }
  const listed: Listed = { entries, reachesBack };
  return listed;
});

/** The transaction of a subject's history that had an effect, null when none of those read did. */
const causeOf = Effect.fnUntraced(function* (effect: RelayedEffect, { entries }: Listed) {
  const ledger = yield* Ledger;
  const { deployment } = yield* Instance;
  const landed = entries.filter(({ failed }) => !failed);
  // Anyone can make transactions that name an account. The effect is among the oldest or the newest ones.
  const half = MOST_CAUSES / 2;
  const likely = new Set([...landed.slice(-half), ...landed.slice(0, half)]);
  for (const { signature } of likely) {
    const transaction = yield* ledger.transaction(signature);
    if (transaction !== null && hadEffect(transaction, effect, deployment)) return signature;
  }
  return null;
});

const landedAs = ({ slot, failed, error }: HistoryEntry): FinalOutcome => ({
  status: "landed",
  slot,
  error: failed ? (error ?? UNKNOWN_ERROR) : null,
});

/**
 * The outcome of an entry that no node knows although its last valid height lies behind the finalized `tip`; null when
 * it is not certain. Nodes forget, and some never search their history. So the finalized accounts must not show what the
 * transaction would have done, unless another transaction did it; and the history of each of them, of one node, must
 * list something from before the first sending and not this transaction. The fee payer's history, whose account held
 * lamports before, counts for an account that does not exist or that another transaction has made since. Fails like the
 * ledger.
 */
export const corroborateExpiry = Effect.fn("corroborateExpiry")(function* (
  { signature, transaction, feePayer, openedAtSlot, lastValidBlockHeight }: RelayEntry,
  tip: Tip,
) {
  // Each block takes a slot. Heights that grew by more than the slots did are not both true.
  const openedAtHeight = lastValidBlockHeight - BLOCKHASH_AGE;
  if (tip.blockHeight - openedAtHeight > tip.slot - openedAtSlot) return null;
  const ledger = yield* Ledger;
  const { deployment } = yield* Instance;
  const decoded = decodeWireTransaction(transaction);
  const effects = "value" in decoded ? relayedEffects(decoded.value, deployment) : null;
  if (effects === null) return null;
  const subjects = effects.map(({ subject }) => subject);
  const ownIn = ({ entries }: Listed) => entries.find((entry) => entry.signature === signature);
  const { slot, value } = yield* ledger.readAccounts(subjects, "finalized");
  if (slot < tip.slot) return null;
  let supersededBy: LedgerSignature | null = null;
  for (const [i, effect] of effects.entries()) {
    const account = value[i] ?? null;
    let listed = yield* listOf(account === null ? feePayer : effect.subject, openedAtSlot);
    let own = ownIn(listed);
    const isShown = showsEffect(effect, account, deployment);
    const cause = isShown && own === undefined ? yield* causeOf(effect, listed) : null;
    // A node that forgot the time before the account was made has forgotten this transaction's failure, too.
    if (cause !== null && !listed.reachesBack) {
      listed = yield* listOf(feePayer, openedAtSlot);
      own = ownIn(listed);
    }
    if (own !== undefined) return landedAs(own);
    if (!listed.reachesBack || (isShown && cause === null)) return null;
    supersededBy ??= cause;
  }
  const expired: FinalOutcome = { status: "expired", blockHeight: tip.blockHeight, supersededBy };
  return expired;
});

import { Effect } from "effect";
import type { Address } from "../../../domain/address.ts";
import type { HistoryEntry } from "../../../domain/ledger/history.ts";
import type { LedgerSignature } from "../../../domain/ledger/signature.ts";
import {
  type FinalizedTip,
  firstPossibleSlot,
  type RelayEntry,
} from "../../../domain/relay/relay-entry.ts";
import {
  paysBeside,
  type RelayedEffect,
  relayedEffects,
  rivalryOf,
  signOfEffect,
} from "../../../protocol/transaction/transaction-effects.ts";
import { decodeWireTransaction } from "../../../protocol/transaction/wire-transaction.ts";
import { Instance } from "../../../../ports/instance.ts";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import { refuseContradicted } from "../../escrow/refuse-contradicted.ts";
import { orAskAnother } from "../../or-ask-another.ts";

/** Pages of an address's history per look-up, of up to 1000 transactions. */
const MOST_PAGES = 3;
/** Transactions that are read to find who else did what the transaction would have done. */
const MOST_CAUSES = 16;

/** One effect that the transaction would have, and what the finalized account of its subject says about it. */
export type Trace = {
  readonly effect: RelayedEffect;
  readonly exists: boolean;
  /** Whether the account shows that the effect did not come about, or that it did, whoever caused it. */
  readonly sign: ReturnType<typeof signOfEffect>;
};

/** Another transaction that had an effect, and whether no second one can have had it. */
export type Cause = { readonly signature: LedgerSignature; readonly excludes: boolean };

/** What one node lists of an address, newest first. */
export type Listed = {
  readonly entries: ReadonlyArray<HistoryEntry>;
  /** Whether the list covers all the time in which the transaction can have landed. */
  readonly reachesBack: boolean;
};

/** What a transaction would do, and whether it pays by itself beside; null when its bytes do not tell. */
export const effectsOf = Effect.fnUntraced(function* ({ transaction }: RelayEntry) {
  const { deployment } = yield* Instance;
  const decoded = decodeWireTransaction(transaction);
  if (!("value" in decoded)) return null;
  const effects = relayedEffects(decoded.value, deployment);
  return effects === null ? null : { effects, paysBeside: paysBeside(decoded.value) };
});

/**
 * The traces of these effects at the tip or later, null when the accounts are older. Fails like the ledger, and with a
 * retryable `LedgerUnavailable` when every node that was asked contradicts what the index proves of an escrow.
 */
export const readTraces = Effect.fnUntraced(function* (
  effects: ReadonlyArray<RelayedEffect>,
  tip: FinalizedTip,
) {
  const ledger = yield* Ledger;
  const { deployment } = yield* Instance;
  const subjects = effects.map(({ subject }) => subject);
  const { slot, value } = yield* ledger.readAccounts(subjects, "finalized", undefined, tip.slot);
  if (slot < tip.slot) return null;
  for (const [i, subject] of subjects.entries())
    yield* refuseContradicted(subject, value[i] ?? null, null);
  return effects.map((effect, i): Trace => {
    const account = value[i] ?? null;
    return { effect, exists: account !== null, sign: signOfEffect(effect, account, deployment) };
  });
}, orAskAnother);

/** What one node lists of an address, as far back as the transaction can have landed. Fails like the ledger. */
export const listSince = Effect.fnUntraced(function* (address: Address, entry: RelayEntry) {
  const ledger = yield* Ledger;
  const from = firstPossibleSlot(entry);
  const entries: Array<HistoryEntry> = [];
  let reachesBack = false;
  let ended = false;
  let before: LedgerSignature | null = null;
  for (let page = 0; page < MOST_PAGES && !reachesBack && !ended; page++) {
    const next: Effect.Success<ReturnType<typeof ledger.history>> = yield* ledger.history(
      address,
      before,
      // Only at the end of a list does its beginning tell whether it is whole.
      (entries) => (entries.at(-1)?.signature ?? before) === before,
    );
    entries.push(...next.entries);
    const last = next.entries.at(-1)?.signature ?? null;
    ended = last === null || last === before;
    before = last;
    // A young account has no earlier transaction. Its list is whole if the node lists what came before the relay took
    // this one on, and says that it keeps everything from the first possible slot.
    const isWhole = ended && next.keptFrom !== null && next.keptFrom <= from;
    reachesBack = entries.some(({ slot }) => slot <= (isWhole ? entry.openedAtSlot : from));
  }
  const listed: Listed = { entries, reachesBack };
  return listed;
});

/**
 * The other transaction of a list that had an effect, null when none of those read did: one that excludes a second, if
 * there is one. Fails like the ledger.
 */
export const causeOf = Effect.fnUntraced(function* (
  effect: RelayedEffect,
  { entries }: Listed,
  own: LedgerSignature,
) {
  const ledger = yield* Ledger;
  const { deployment } = yield* Instance;
  const landed = entries.filter(({ failed, signature }) => !failed && signature !== own);
  // Anyone can make transactions that name an account. The effect is among the oldest or the newest ones.
  const half = MOST_CAUSES / 2;
  const likely = new Set([...landed.slice(-half), ...landed.slice(0, half)]);
  let found: Cause | null = null;
  for (const { signature } of likely) {
    const transaction = yield* ledger.transaction(signature);
    const rivalry = transaction === null ? "none" : rivalryOf(transaction, effect, deployment);
    if (rivalry === "none") continue;
    found ??= { signature, excludes: rivalry === "excludes" };
    if (rivalry === "excludes") return { signature, excludes: true };
  }
  return found;
});

import { Clock, Effect } from "effect";
import { Instance } from "../../../../../ports/instance.ts";
import { type LedgerFailure, Ledger } from "../../../../../ports/ledger/ledger.ts";
import type { SlotBeyondReach } from "../../../../../ports/index/index-news.ts";
import type { Address } from "../../../../domain/address.ts";
import { highestPlausibleSlot, type SyncMark } from "../../../../domain/index/sync-report.ts";
import type { LedgerAccount } from "../../../../domain/ledger/account.ts";
import type { LedgerTransaction } from "../../../../domain/ledger/history.ts";
import { rootOf } from "../../../../log/tree/frontier.ts";
import { touchedAccountsOf } from "../../../../protocol/transaction/transaction-effects.ts";
import { type CustodyTip, readTipAlong, READ_AT_ONCE } from "./custody-tip.ts";
import type { SyncMemory } from "./sync-memory.ts";

/** The most transactions that are read because a node told of them, before the count shows whether anything changed. */
const MOST_TOLD = 8;
const AT_ONCE = 8;
/** The most touched accounts that are read beside the config and the clock. */
const MOST_TOUCHED = READ_AT_ONCE - 2;

/** What one read of the ledger shows: the tip, and the accounts that told transactions touched. */
export type LookAhead = {
  readonly tip: CustodyTip;
  readonly transactions: ReadonlyArray<LedgerTransaction>;
  /** Accounts of the tip's slot. */
  readonly accounts: ReadonlyArray<LedgerAccount>;
  /** Whether a node told of a transaction that may have changed merchants and that was not read. */
  readonly leavesMerchants: boolean;
};

/** The told transactions that a node shows, and the lowest slot at which their accounts must be read. */
const readTold = Effect.fnUntraced(function* (memory: SyncMemory, mark: SyncMark) {
  const highest = highestPlausibleSlot(mark, yield* Clock.currentTimeMillis);
  const { attestorProgram } = (yield* Instance).deployment;
  // The count does not tell of a merchant's change.
  const told = memory.told
    .all()
    .filter(
      ({ slot, names }) => slot <= highest && (names === attestorProgram || !memory.toldIdly),
    );
  const signatures = [...new Set(told.map(({ signature }) => signature))];
  if (signatures.length > MOST_TOLD) return { from: mark.slot, found: [] };
  const shown = yield* Effect.forEach(
    signatures,
    (signature) => memory.transactions.read(signature),
    { concurrency: AT_ONCE },
  );
  const slots = told.map(({ slot }) => slot);
  return {
    from: slots.reduce((high, slot) => (slot > high ? slot : high), mark.slot),
    found: shown.filter((one): one is LedgerTransaction => one !== null),
  };
});

/** Whether a failure says that a node is behind or shows what cannot be: a whole look at the ledger names it. */
const isForWholeLook = (failure: LedgerFailure | SlotBeyondReach): boolean =>
  failure._tag === "SlotBeyondReach" ||
  (failure._tag === "LedgerUnavailable" &&
    (failure.fault === undefined || failure.fault.kind === "behind"));

/**
 * The tip in one read, of a slot that is not below the mark's nor below those of the transactions that a node told of,
 * and with it the accounts that these touched. Nobody waits for it, so it need not be the newest tip. Once something
 * has changed since `mark`, the node must show its genesis hash. Null when only a whole look at the ledger can tell what
 * is wrong. Fails like the ledger.
 */
export const lookAhead = Effect.fn("lookAhead")(
  function* (memory: SyncMemory, mark: SyncMark) {
    const ledger = yield* Ledger;
    const { deployment } = yield* Instance;
    const { from, found } = yield* readTold(memory, mark);
    const named = new Set(found.flatMap((one) => touchedAccountsOf(one, deployment)));
    // What does not fit into one read is left to the histories.
    const transactions = named.size > MOST_TOUCHED ? [] : found;
    const touched: ReadonlyArray<Address> = transactions.length === 0 ? [] : [...named];
    const read = new Set(transactions.map(({ signature }) => signature));
    const { tip, others } = yield* readTipAlong(mark, from, touched);
    const isChanged = tip.count !== mark.count || rootOf(tip) !== rootOf(mark);
    // Anybody can name the program in a transaction that changes nothing.
    if (isChanged) memory.toldIdly = false;
    else if (transactions.length > 0) memory.toldIdly = true;
    if (isChanged || touched.length > 0) yield* ledger.confirmIdentity;
    const ahead: LookAhead = {
      tip,
      transactions,
      accounts: others.filter((account): account is LedgerAccount => account !== null),
      leavesMerchants: memory.told
        .all()
        .some(
          ({ names, signature, slot }) =>
            names === deployment.attestorProgram && slot <= tip.slot && !read.has(signature),
        ),
    };
    return ahead;
  },
  (effect) => Effect.catchIf(effect, isForWholeLook, () => Effect.succeed(null)),
);

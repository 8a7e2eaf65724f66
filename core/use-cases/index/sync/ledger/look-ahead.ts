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
};

/** The told transactions that a node shows, and the lowest slot at which their accounts must be read. */
const readTold = Effect.fnUntraced(function* (memory: SyncMemory, mark: SyncMark) {
  const highest = highestPlausibleSlot(mark, yield* Clock.currentTimeMillis);
  const told = memory.told.all().filter(({ slot }) => slot <= highest);
  const signatures = [...new Set(told.map(({ signature }) => signature))];
  if (signatures.length > MOST_TOLD || memory.toldIdly)
    return { from: mark.slot, transactions: [] };
  const found = yield* Effect.forEach(
    signatures,
    (signature) => memory.transactions.read(signature),
    { concurrency: AT_ONCE },
  );
  const transactions = found.filter((one): one is LedgerTransaction => one !== null);
  const slots = told.map(({ slot }) => slot);
  return {
    from: slots.reduce((high, slot) => (slot > high ? slot : high), mark.slot),
    transactions,
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
    const { from, transactions } = yield* readTold(memory, mark);
    const touched: ReadonlyArray<Address> = [
      ...new Set(transactions.flatMap((one) => touchedAccountsOf(one, deployment))),
    ].slice(0, MOST_TOUCHED);
    const { tip, others } = yield* readTipAlong(mark, from, touched);
    const isChanged = tip.count !== mark.count || rootOf(tip) !== rootOf(mark);
    memory.toldIdly = transactions.length > 0 && touched.length === 0 && !isChanged;
    if (isChanged || touched.length > 0) yield* ledger.confirmIdentity;
    const ahead: LookAhead = {
      tip,
      transactions,
      accounts: others.filter((account): account is LedgerAccount => account !== null),
    };
    return ahead;
  },
  (effect) => Effect.catchIf(effect, isForWholeLook, () => Effect.succeed(null)),
);

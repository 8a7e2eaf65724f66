import { Effect } from "effect";
import { hash32FromBytes } from "../../../../domain/hash32.ts";
import type { SyncMark } from "../../../../domain/index/sync-mark.ts";
import { firstHead } from "../../../../log/leaf/event-chain.ts";
import { untrustworthy } from "../../../refuse-answer.ts";
import type { CustodyTip } from "../ledger/custody-tip.ts";
import type { IndexAccounts } from "../index-accounts.ts";
import { isPrefixOfIndex } from "./is-prefix-of-index.ts";
import { proveHistory } from "./prove-history.ts";
import type { SyncMemory } from "../ledger/sync-memory.ts";

/**
 * Whether scans prove that the tip ends another history than the index's: every event up to its count is there and the
 * chain is its head. False when the tip continues the index. Fails as retryable when the scans do not prove the tip, or
 * when it is an earlier state of the index's own history. Writes nothing.
 */
export const proveRewritten = Effect.fn("proveRewritten")(
  function* (accounts: IndexAccounts, memory: SyncMemory, since: SyncMark, tip: CustodyTip) {
    if (tip.count < since.count && (yield* isPrefixOfIndex(tip)))
      return yield* untrustworthy(
        `the index holds ${since.count} events, and the custody program's ${tip.count} are the first of them or none: ` +
          "if the ledger was set back, move the index away and restart (docs/protocol.md, Index)",
      );
    const start = { count: 0n, head: hash32FromBytes(firstHead()) };
    let head = start.head;
    yield* proveHistory(accounts, memory, start, tip, ({ seq }, chain) => {
      if (seq === since.count) head = chain.head;
    });
    return tip.count < since.count || head !== since.head;
  },
  // A proof costs a scan of everything. The next one waits for as many contradictions as this one did.
  (effect, _accounts, memory) =>
    Effect.ensuring(
      effect,
      Effect.sync(() => {
        memory.contradictions = 0;
      }),
    ),
);

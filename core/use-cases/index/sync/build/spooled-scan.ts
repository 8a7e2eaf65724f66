import { Effect, Stream } from "effect";
import type { AccountKind } from "../../../../domain/ledger/account-kind.ts";
import { ARCHIVED_ESCROW_LENGTH } from "../../../../protocol/accounts/archived-escrow-account.ts";
import type { SnapshotSpool } from "../../../../../ports/index/snapshot-spool.ts";
import { Ledger, type ScannedAccounts } from "../../../../../ports/ledger/ledger.ts";
import { refuseOlder } from "../../../refuse-answer.ts";
import type { IndexAccounts, ReadRows } from "../index-accounts.ts";

/**
 * The scans of one snapshot, which keep what they fetch in a spool. `replay` shows `use` what an earlier process kept;
 * `scan(n)` then runs the nth scan from where that process stopped, all kinds in order. Answers below the tip's slot are
 * refused. Both fail like the ledger or like `use`.
 */
export const spooledScan = <E, R>(
  accounts: IndexAccounts,
  kinds: ReadonlyArray<AccountKind>,
  spool: SnapshotSpool,
  use: (rows: ReadRows) => Effect.Effect<void, E, R>,
) => {
  const { tip } = spool;
  let newest = tip.slot;
  const take = (kind: AccountKind | undefined, { slot, value }: ScannedAccounts) =>
    Effect.suspend(() => {
      newest = slot > newest ? slot : newest;
      return use(accounts.decode(slot, value, kind?.program));
    });
  const replay = Stream.runForEach(spool.kept, (chunk) => take(kinds[chunk.kind], chunk));
  const scan = Effect.fn("spooledScan")(function* (number: number) {
    const ledger = yield* Ledger;
    const from = yield* spool.position;
    if (from.scan > number) return;
    for (const [at, kind] of kinds.entries()) {
      const isFrom = from.scan === number && from.kind === at;
      if (from.scan === number && at < from.kind) continue;
      // Tombstones come last, and not from before the escrows: nothing that is archived meanwhile is in neither.
      const floor = kind.length === ARCHIVED_ESCROW_LENGTH ? newest : tip.slot;
      const place = { scan: number, kind: at };
      const options = {
        expected: tip.count,
        notBefore: floor,
        ...(isFrom && from.after !== null ? { after: from.after } : {}),
      };
      yield* Stream.runForEach(ledger.programAccounts(kind, options), (chunk) =>
        Effect.gen(function* () {
          yield* refuseOlder(chunk.slot, floor);
          yield* spool.add(place, chunk);
          yield* take(kind, chunk);
        }),
      );
      yield* spool.ended(place);
    }
  });
  return { replay, scan };
};

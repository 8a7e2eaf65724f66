import { Effect, Stream } from "effect";
import type { AccountKind } from "../../../../domain/ledger/account-kind.ts";
import { ARCHIVED_ESCROW_LENGTH } from "../../../../protocol/accounts/archived-escrow-account.ts";
import { Ledger, type ScanOptions } from "../../../../../ports/ledger/ledger.ts";
import { refuseOlder } from "../../../refuse-answer.ts";
import type { IndexAccounts, ReadRows } from "../index-accounts.ts";

/**
 * Shows `use` the valid rows of all accounts of these kinds, in chunks as the ledger gives them. An answer of a slot
 * below `since` is refused. Fails like the ledger or like `use`.
 */
export const scanAccounts = Effect.fn("scanAccounts")(function* <E, R>(
  accounts: IndexAccounts,
  kinds: ReadonlyArray<AccountKind>,
  since: bigint,
  use: (rows: ReadRows) => Effect.Effect<void, E, R>,
  options: ScanOptions = {},
) {
  const ledger = yield* Ledger;
  let newest = since;
  for (const kind of kinds) {
    // Tombstones are scanned last and at no earlier slot, so an escrow archived during the scan appears in one of the two.
    const floor = kind.length === ARCHIVED_ESCROW_LENGTH ? newest : since;
    const scan = ledger.programAccounts(kind, { ...options, notBefore: floor });
    yield* Stream.runForEach(scan, ({ slot, value }) =>
      Effect.gen(function* () {
        yield* refuseOlder(slot, floor);
        newest = slot > newest ? slot : newest;
        yield* use(accounts.decode(slot, value, kind.program));
      }),
    );
  }
});

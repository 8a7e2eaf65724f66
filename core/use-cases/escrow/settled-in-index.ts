import { Effect } from "effect";
import { IndexReader } from "../../../ports/index/index-reader.ts";
import { Instance } from "../../../ports/instance.ts";
import type { LedgerFailure } from "../../../ports/ledger/ledger.ts";
import { parseAddress } from "../../domain/address.ts";
import { encodeEscrowAccount } from "../../protocol/accounts/escrow-account.ts";
import { type LiveEscrow, readEscrow } from "./read-escrow.ts";

/** Whether a failure says that no node gave a usable answer: one that contradicts what is known did. */
export const isNodeAway = (failure: LedgerFailure): boolean =>
  failure._tag === "LedgerTimeout" || failure.contradicts === undefined;

/**
 * A settled escrow, archived or not, as the index has proved it against the ledger's root, at the index's mark. Null for
 * any other address, and while the store does not answer. A settled escrow never changes, so an old mark is no worse
 * than a new one.
 */
export const settledInIndex = Effect.fn("settledInIndex")(
  function* (pda: string) {
    const index = yield* IndexReader;
    const { deployment } = yield* Instance;
    const address = parseAddress(pda);
    if (address === undefined) return null;
    const { mark } = yield* index.summary;
    const [escrow] = (yield* index.escrowsAt([address])).escrows;
    if (mark === null || escrow === undefined || escrow.state === "Pending") return null;
    const data = encodeEscrowAccount(escrow);
    const shown: LiveEscrow = {
      escrow,
      // The index knows an account's bytes, and not its lamports.
      account: { address, owner: deployment.custodyProgram, lamports: 0n, executable: false, data },
      archived: null,
      ledgerTime: mark.ledgerTime,
      slot: mark.slot,
      commitment: "finalized",
      along: [],
      isFromIndex: true,
    };
    return shown;
  },
  Effect.orElseSucceed(() => null),
);

/** As `readEscrow`, but while no node gives a usable answer, a settled escrow is the index's. */
export const showEscrow = Effect.fnUntraced(function* (pda: string) {
  const fromIndex = Effect.fnUntraced(function* (failure: LedgerFailure) {
    const shown = isNodeAway(failure) ? yield* settledInIndex(pda) : null;
    return shown ?? (yield* failure);
  });
  return yield* readEscrow(pda).pipe(
    Effect.catchTags({ LedgerUnavailable: fromIndex, LedgerTimeout: fromIndex }),
  );
});

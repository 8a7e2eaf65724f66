import { Data, Effect } from "effect";
import { Ledger } from "../../../ports/ledger/ledger.ts";
import { readEscrow } from "./read-escrow.ts";

/** Length of a slot in milliseconds (Agave `clock.rs`: DEFAULT_MS_PER_SLOT). */
const SLOT_MS = 400;

/** The escrow is confirmed and not finalized yet. */
export class NotFinalYet extends Data.TaggedError("NotFinalYet")<{
  readonly address: string;
  /** A confirmed slot at which the escrow exists. */
  readonly slot: bigint;
  /** The newest finalized slot. */
  readonly finalizedSlot: bigint;
  /** Whole seconds, at least 1, within which that slot is finalized at the usual pace. */
  readonly waitSeconds: number;
}> {}

/**
 * An escrow as `readEscrow` reads it at `finalized`. Fails with `NotFinalYet` exactly when the ledger shows an escrow at
 * `confirmed` and nothing at `finalized`, and otherwise as `readEscrow` does.
 */
export const readFinalizedEscrow = Effect.fn("readFinalizedEscrow")(function* (pda: string) {
  return yield* readEscrow(pda, "finalized").pipe(
    Effect.catchTag(
      "EscrowNotFound",
      Effect.fnUntraced(function* ({ address }) {
        const { slot } = yield* readEscrow(address, "confirmed");
        const ledger = yield* Ledger;
        const { slot: finalizedSlot } = yield* ledger.tip("finalized");
        const left = slot > finalizedSlot ? Number(slot - finalizedSlot) : 0;
        const waitSeconds = Math.max(1, Math.ceil((left * SLOT_MS) / 1000));
        return yield* new NotFinalYet({ address, slot, finalizedSlot, waitSeconds });
      }),
    ),
  );
});

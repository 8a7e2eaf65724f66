import { Effect } from "effect";
import { prepareReturn, type PrepareReturnRequest } from "./prepare-return.ts";

/**
 * The instructions with which anyone refunds an expired escrow to its agent. Fails with `WrongState` when the ledger would
 * refuse them at the slot that was read, `InvalidAddress` and `ValidationFailed` for a field of the request, and as `readEscrow`
 * does. See docs/protocol.md, "Prepare operations".
 */
export const prepareRefund = Effect.fn("prepareRefund")(
  (pda: string, request: PrepareReturnRequest) => prepareReturn("claim_refund", pda, request),
);

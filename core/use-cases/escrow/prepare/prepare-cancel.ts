import { Effect } from "effect";
import { prepareReturn, type PrepareReturnRequest } from "./prepare-return.ts";

/**
 * The instructions with which the merchant wallet returns an escrow's money to the agent before expiry. Fails as `prepareRefund` does. See
 * docs/protocol.md, "Prepare operations".
 */
export const prepareCancel = Effect.fn("prepareCancel")(
  (pda: string, request: PrepareReturnRequest) => prepareReturn("cancel_escrow", pda, request),
);

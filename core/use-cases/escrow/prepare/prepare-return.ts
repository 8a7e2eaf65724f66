import { Effect } from "effect";
import {
  cancelEscrowInstruction,
  claimRefundInstruction,
} from "../../../protocol/instructions/custody-instructions.ts";
import { Instance } from "../../../../ports/instance.ts";
import { checkInstructions, readSurroundings, wrongState } from "./escrow-surroundings.ts";
import { finishCall } from "./finish-call.ts";
import { isOffCurve } from "../../../protocol/addresses/curve-point.ts";
import {
  checkTransactionSigner,
  parseOptionalAddresses,
  parseSending,
  type SendingRequest,
} from "./parse-sending.ts";
import { settlementDraft } from "./settlement-draft.ts";

/** The input of a refund or cancellation. Only the types of its members are checked. */
export type PrepareReturnRequest = SendingRequest & {
  readonly agentFallbackAccount?: string | undefined;
};

/** The instructions that give an escrow's money back to its agent; `prepareRefund` and `prepareCancel` say when. */
export const prepareReturn = Effect.fnUntraced(function* (
  operation: "claim_refund" | "cancel_escrow",
  pda: string,
  request: PrepareReturnRequest,
) {
  const { deployment } = yield* Instance;
  const asked = yield* parseSending(request);
  const { agentFallbackAccount } = yield* parseOptionalAddresses({
    agentFallbackAccount: request.agentFallbackAccount,
  });
  const surroundings = yield* readSurroundings(pda, [agentFallbackAccount, asked.payer]);
  const { escrow } = surroundings;
  const isCancel = operation === "cancel_escrow";
  if (isCancel)
    yield* checkTransactionSigner("wantsTransaction", escrow.merchant, asked.wantsTransaction);
  // A cancellation needs the wallet's signature anyhow; one that a program derives pays for no transaction.
  const payer = asked.payer ?? (isCancel && !isOffCurve(escrow.merchant) ? escrow.merchant : null);
  const input = {
    ...escrow,
    escrow: escrow.address,
    agentFallbackAccount: agentFallbackAccount ?? undefined,
  };
  const call = isCancel
    ? cancelEscrowInstruction(deployment, input)
    : claimRefundInstruction(deployment, input);
  const draft = settlementDraft(surroundings, {
    operation,
    calls: [call],
    sides: [{ whose: "agent", fallback: agentFallbackAccount }],
    payer,
    until: isCancel ? escrow.expiresAt : null,
  });
  yield* checkInstructions(surroundings, draft, payer);
  return yield* finishCall(draft, { ...asked, payer }, surroundings, (rule, detail) =>
    wrongState(surroundings, rule, detail),
  );
});

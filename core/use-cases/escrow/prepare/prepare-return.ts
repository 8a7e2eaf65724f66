import { Effect } from "effect";
import { Instance } from "../../../../ports/instance.ts";
import { isOffCurve } from "../../../protocol/crypto/curve-point.ts";
import {
  archiveEscrowInstruction,
  cancelEscrowInstruction,
  claimRefundInstruction,
} from "../../../protocol/instructions/custody-instructions.ts";
import { checkInstructions, readSurroundings, wrongState } from "./escrow-surroundings.ts";
import { type DraftCall, finishCall } from "./finish-call.ts";
import {
  checkTransactionSigner,
  parseOptionalAddresses,
  parseSending,
  type SendingRequest,
} from "./parse-sending.ts";
import { atArchiving, settlementDraft } from "./settlement-draft.ts";

/** The input of a refund or cancellation. Only the types of its members are checked. */
export type PrepareReturnRequest = SendingRequest & {
  readonly agentFallbackAccount?: string | undefined;
};

/** The instructions that give an escrow's money back to its agent; `prepareRefund` and `prepareCancel` say when. */
const prepareReturn = Effect.fnUntraced(function* (
  operation: "claim_refund" | "cancel_escrow",
  pda: string,
  request: PrepareReturnRequest,
) {
  const { deployment } = yield* Instance;
  const sending = yield* parseSending(request);
  const { agentFallbackAccount } = yield* parseOptionalAddresses({
    agentFallbackAccount: request.agentFallbackAccount,
  });
  const surroundings = yield* readSurroundings(pda, [agentFallbackAccount, sending.payer]);
  const { escrow } = surroundings;
  const isCancel = operation === "cancel_escrow";
  if (isCancel)
    yield* checkTransactionSigner("wantsTransaction", escrow.merchant, sending.wantsTransaction);
  // A cancellation needs the wallet's signature anyhow; one that a program derives pays for no transaction.
  const payer =
    sending.payer ?? (isCancel && !isOffCurve(escrow.merchant) ? escrow.merchant : null);
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
  return yield* finishCall(draft, { ...sending, payer }, surroundings, (rule, detail) =>
    wrongState(surroundings, rule, detail),
  );
});

/**
 * The instructions with which the merchant wallet returns an escrow's money to the agent before expiry. Fails as
 * `prepareRefund` does. See docs/protocol.md, "Prepare operations".
 */
export const prepareCancel = Effect.fn("prepareCancel")(
  (pda: string, request: PrepareReturnRequest) => prepareReturn("cancel_escrow", pda, request),
);

/**
 * The instructions with which anyone refunds an expired escrow to its agent. Fails with `WrongState` when the ledger
 * would refuse them at the slot that was read, `InvalidAddress` and `ValidationFailed` for a field of the request, and
 * as `readEscrow` does. See docs/protocol.md, "Prepare operations".
 */
export const prepareRefund = Effect.fn("prepareRefund")(
  (pda: string, request: PrepareReturnRequest) => prepareReturn("claim_refund", pda, request),
);

/**
 * The instruction that replaces an escrow by its tombstone. Anyone can send it from a week after settlement on. Fails
 * with `WrongState` before, `InvalidAddress` and `ValidationFailed` for a field of the request, and as `readEscrow`
 * does. See docs/protocol.md, "Prepare operations".
 */
export const prepareArchive = Effect.fn("prepareArchive")(function* (
  pda: string,
  request: SendingRequest,
) {
  const { deployment } = yield* Instance;
  const sending = yield* parseSending(request);
  const surroundings = yield* readSurroundings(pda, [sending.payer]);
  const { escrow, account } = surroundings;
  const instruction = archiveEscrowInstruction(deployment, {
    escrow: escrow.address,
    rentPayer: escrow.rentPayer,
    lastBytes: account.data,
  });
  const archiving = atArchiving(surroundings);
  const draft: DraftCall = {
    operation: "archive_escrow",
    instructions: [instruction],
    payouts: [],
    warnings: [],
    until: null,
    cost: { deposits: [], returnedAtSettlement: 0n, ...archiving },
    returnedToPayer: sending.payer === escrow.rentPayer ? archiving.returnedAtArchiving : 0n,
  };
  yield* checkInstructions(surroundings, draft, sending.payer);
  return yield* finishCall(draft, sending, surroundings, (rule, detail) =>
    wrongState(surroundings, rule, detail),
  );
});

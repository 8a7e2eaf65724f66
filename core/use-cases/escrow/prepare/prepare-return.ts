import { Effect } from "effect";
import { Instance } from "../../../../ports/instance.ts";
import type { Address } from "../../../domain/address.ts";
import { endOf } from "../../../domain/escrow/escrow.ts";
import { isOffCurve } from "../../../protocol/crypto/curve-point.ts";
import {
  archiveEscrowInstruction,
  cancelEscrowInstruction,
  claimRefundInstruction,
  closeSessionInstruction,
  returnRentInstruction,
} from "../../../protocol/instructions/custody-instructions.ts";
import { isVacant } from "../../../protocol/rules/custody-call.ts";
import {
  checkInstructions,
  heldIn,
  readAnySurroundings,
  readSurroundings,
  type Surroundings,
  wrongState,
} from "./escrow-surroundings.ts";
import { type DraftCall, finishCall, type Sending } from "./finish-call.ts";
import {
  checkTransactionSigner,
  parseOptionalAddresses,
  parseSending,
  type SendingRequest,
} from "./parse-sending.ts";
import { canReturn, returnsOf, settlementDraft } from "./settlement-draft.ts";

/** The input of a settlement that the ledger's state alone decides. Only the types of its members are checked. */
export type PrepareReturnRequest = SendingRequest & {
  /** Whether the settlement alone is wanted, without what could follow it in the same transaction. */
  readonly bare?: boolean | undefined;
};

/** The input of a refund. Only the types of its members are checked. */
export type PrepareRefundRequest = PrepareReturnRequest & {
  readonly agentFallbackAccount?: string | undefined;
};

/** The draft, once the ledger would take it, with its payer's fee and transaction. */
const finished = Effect.fnUntraced(function* (
  surroundings: Surroundings,
  draft: Parameters<typeof checkInstructions>[1] & DraftCall,
  sending: Sending,
  movesTokens: boolean,
) {
  yield* checkInstructions(surroundings, draft, sending.payer, movesTokens);
  return yield* finishCall(draft, sending, surroundings, (rule, detail) =>
    wrongState(surroundings, rule, detail),
  );
});

/**
 * Who pays a call that a wallet must sign anyhow: that wallet, unless a program derives it or another payer is named.
 */
const signedBy = Effect.fnUntraced(function* (sending: Sending, wallet: Address) {
  yield* checkTransactionSigner("wantsTransaction", wallet, sending.wantsTransaction);
  return { ...sending, payer: sending.payer ?? (isOffCurve(wallet) ? null : wallet) };
});

/**
 * The instructions with which the merchant's wallet settles an escrow with what was captured, before its end; behind
 * them the agent's rest and the rent, as far as they fit. Fails as `prepareRefund` does. See docs/prepare.md, "Prepare
 * operations".
 */
export const prepareCancel = Effect.fn("prepareCancel")(function* (
  pda: string,
  request: PrepareReturnRequest,
) {
  const { deployment } = yield* Instance;
  const asked = yield* parseSending(request);
  const surroundings = yield* readSurroundings(pda, [asked.payer]);
  const { escrow } = surroundings;
  const sending = yield* signedBy(asked, escrow.merchant);
  const draft = settlementDraft(surroundings, {
    operation: "cancel_escrow",
    calls: [cancelEscrowInstruction(deployment, { ...escrow, escrow: escrow.address })],
    side: null,
    follows: { released: escrow.released },
    payer: sending.payer,
    until: endOf(escrow),
    isBare: request.bare ?? false,
  });
  return yield* finished(surroundings, draft, sending, false);
});

/**
 * The instructions with which anyone pays what an ended or settled escrow's vault still holds to its agent, and closes
 * the vault; behind them the rent, where it fits. Fails with `WrongState` when the ledger would refuse them at the slot
 * that was read or there is no vault any more, `EscrowArchived` where nobody kept an archived escrow's bytes,
 * `InvalidAddress` and `ValidationFailed` for a field of the request, and as `readEscrow` does. See docs/prepare.md,
 * "Prepare operations".
 */
export const prepareRefund = Effect.fn("prepareRefund")(function* (
  pda: string,
  request: PrepareRefundRequest,
) {
  const { deployment } = yield* Instance;
  const sending = yield* parseSending(request);
  const { agentFallbackAccount: fallback } = yield* parseOptionalAddresses({
    agentFallbackAccount: request.agentFallbackAccount,
  });
  const { payer } = sending;
  const surroundings = yield* readAnySurroundings(pda, [fallback, payer]);
  const { escrow, vault, lastBytes } = surroundings;
  if (escrow.state !== "Pending" && isVacant(vault))
    return yield* wrongState(
      surroundings,
      "nothing_left",
      `the escrow is ${escrow.state} and its vault is closed; nothing is left for its agent`,
    );
  const isPaid = heldIn(surroundings) > 0n;
  const claim = claimRefundInstruction(deployment, {
    escrow: escrow.address,
    mint: escrow.mint,
    agentOwner: isPaid ? escrow.agentOwner : null,
    agentFallbackAccount: fallback ?? undefined,
    lastBytes: lastBytes ?? undefined,
  });
  const draft = settlementDraft(surroundings, {
    operation: "claim_refund",
    calls: [claim],
    side: isPaid ? { whose: "agent", fallback } : null,
    follows: "rent",
    payer,
    until: null,
    isBare: request.bare ?? false,
  });
  return yield* finished(surroundings, draft, sending, isPaid);
});

/** A call that pays nobody out of the vault. */
const plainDraft = (
  surroundings: Surroundings,
  call: Pick<DraftCall, "operation" | "instructions" | "until">,
  returnedToPayer = 0n,
): DraftCall => ({
  ...call,
  payouts: [],
  warnings: [],
  cost: { deposits: [], ...returnsOf(surroundings) },
  returnedToPayer,
});

/**
 * The instruction with which the agent's wallet closes its session: it ends in 900 s, or when it expires if that is
 * sooner. Fails with `WrongState` when the ledger would refuse it at the slot that was read, and otherwise as
 * `prepareCancel` does. See docs/prepare.md, "Prepare operations".
 */
export const prepareClose = Effect.fn("prepareClose")(function* (
  pda: string,
  request: SendingRequest,
) {
  const { deployment } = yield* Instance;
  const asked = yield* parseSending(request);
  const surroundings = yield* readSurroundings(pda, [asked.payer]);
  const { escrow } = surroundings;
  const sending = yield* signedBy(asked, escrow.agentOwner);
  const instruction = closeSessionInstruction(deployment, { ...escrow, escrow: escrow.address });
  const draft = plainDraft(surroundings, {
    operation: "close_session",
    instructions: [instruction],
    until: endOf(escrow),
  });
  return yield* finished(surroundings, draft, sending, false);
});

/**
 * The instruction that returns the lamports above a settled escrow's own rent to its rent payer; anyone can send it.
 * Fails with `WrongState` while the escrow is Pending and when there is nothing to return, and as `prepareRefund` does.
 * See docs/prepare.md, "Prepare operations".
 */
export const prepareRent = Effect.fn("prepareRent")(function* (
  pda: string,
  request: SendingRequest,
) {
  const { deployment } = yield* Instance;
  const sending = yield* parseSending(request);
  const surroundings = yield* readAnySurroundings(pda, [sending.payer]);
  const { escrow, account, rent, lastBytes } = surroundings;
  const instruction = returnRentInstruction(deployment, {
    escrow: escrow.address,
    rentPayer: escrow.rentPayer,
    lastBytes: lastBytes ?? undefined,
  });
  const spare = account.lamports - rent.minimumBalance(account.data.length);
  if (escrow.state !== "Pending" && !canReturn(surroundings, spare))
    return yield* wrongState(
      surroundings,
      "nothing_left",
      spare > 0n
        ? `the rent payer ${escrow.rentPayer} cannot be given the ${spare} lamports: its account is a program, or would hold less than its own rent`
        : "the escrow's account holds no lamports above its own rent",
    );
  const draft = plainDraft(
    surroundings,
    { operation: "return_rent", instructions: [instruction], until: null },
    sending.payer === escrow.rentPayer ? spare : 0n,
  );
  return yield* finished(surroundings, draft, sending, false);
});

/**
 * The instruction that replaces an escrow by its tombstone. Anyone can send it from a week after settlement on. Fails
 * with `WrongState` before, `InvalidAddress` and `ValidationFailed` for a field of the request, and as `readEscrow`
 * does. See docs/prepare.md, "Prepare operations".
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
  const all = returnsOf(surroundings);
  // What the account holds above the tombstone's rent comes back now; what is in an open vault once that is closed.
  const now = returnsOf({ ...surroundings, vault: null });
  const returnedAtArchiving = now.returnedAtSettlement + now.returnedAtArchiving;
  const draft: DraftCall = {
    ...plainDraft(
      surroundings,
      { operation: "archive_escrow", instructions: [instruction], until: null },
      sending.payer === escrow.rentPayer ? returnedAtArchiving : 0n,
    ),
    cost: {
      deposits: [],
      returnedAtSettlement: all.returnedAtSettlement - now.returnedAtSettlement,
      returnedAtArchiving,
      kept: all.kept,
    },
  };
  return yield* finished(surroundings, draft, sending, false);
});

import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
import { endOf } from "../../../core/domain/escrow/escrow.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { formatUnixTime, type UnixSeconds } from "../../../core/domain/unix-time.ts";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import {
  attestedCallsMessage,
  type CallAttestation,
} from "../../../core/protocol/calls/call-receipt.ts";
import { type CallVoucher, vouchedMessage } from "../../../core/protocol/calls/call-voucher.ts";
import type { SessionTerms } from "../../../core/protocol/calls/session-terms.ts";
import {
  captureInstruction,
  releaseEscrowInstruction,
} from "../../../core/protocol/instructions/custody-instructions.ts";
import { ed25519Instruction } from "../../../core/protocol/instructions/ed25519-instruction.ts";
import type { UnsignedTransaction } from "../../../core/protocol/transaction/unsigned-transaction.ts";
import { landTransaction, type MerchantContext } from "../../merchant/merchant-context.ts";
import { payoutAccountIn } from "../../pay/payout-account.ts";
import { preparedTransaction } from "../../pay/prepared-transaction.ts";
import { isBareFirst, landedSettlement, preparedSettlement } from "../../pay/settlement.ts";
import { addressNamed } from "../../pinned-policy.ts";
import type { MessageSigner } from "../../signing/sign-transaction.ts";

/** What captures and releases need: anybody may send them. */
export type SettlingContext = MerchantContext & {
  /** Pays the fees. */
  readonly payer: MessageSigner;
};

/** What both sides signed so far of a session. */
export type SignedSession = {
  readonly session: SessionTerms;
  readonly voucher: CallVoucher;
  readonly attestation: CallAttestation;
};

/** What a session owes the merchant, with which anybody can capture it. */
export type PendingCapture = {
  /** As the finalized ledger shows it. */
  readonly escrow: Escrow;
  readonly signed: SignedSession;
};

/** What a capture and a release carry, for the service. */
const carriedOf = (
  { voucher, attestation }: SignedSession,
  { escrow, payer }: { readonly escrow: Escrow; readonly payer: MessageSigner },
) => ({
  pda: escrow.address,
  proof_hash: attestation.deliveries,
  timestamp: formatUnixTime(attestation.timestamp),
  amount_stroops: attestation.total.toString(),
  deliveries: attestation.count,
  attestation_signature: encodeBase64(attestation.signature),
  voucher: {
    orders: voucher.orders,
    total_stroops: voucher.total.toString(),
    count: voucher.count,
    closing: voucher.isClosing,
    signature: encodeBase64(voucher.signature),
  },
  payer: addressNamed(payer.publicKey, "payer"),
});

/** The instruction with both signatures. */
const signaturesOf = ({ session, voucher, attestation }: SignedSession): Instruction =>
  ed25519Instruction(
    {
      publicKey: session.attestor,
      signature: attestation.signature,
      message: attestedCallsMessage(session, attestation),
    },
    {
      publicKey: session.sessionKey,
      signature: voucher.signature,
      message: vouchedMessage(session, voucher),
    },
  );

const paymentOf = ({ address, mint, merchant }: Escrow) => ({ escrow: address, mint, merchant });

/** The checked, unsigned transaction of a capture. @throws SettlementError */
export const preparedCapture = (
  context: SettlingContext,
  escrow: Escrow,
  signed: SignedSession,
): Promise<UnsignedTransaction> => {
  const carried = carriedOf(signed, { escrow, payer: context.payer });
  return preparedTransaction(
    context,
    "POST /v1/escrows/{pda}/capture/prepare?transaction=true",
    carried,
    (deployment, prepared) => [
      ...payoutAccountIn(prepared, {
        payer: carried.payer,
        owner: escrow.merchant,
        mint: escrow.mint,
      }),
      signaturesOf(signed),
      captureInstruction(deployment, paymentOf(escrow)),
    ],
    undefined,
  );
};

/**
 * Pays the merchant what is attested and vouched for and was not captured before, and gives the signature of the
 * transaction once that is confirmed. @throws SettlementError
 */
export const captureSession = async (
  context: SettlingContext,
  { escrow, signed }: PendingCapture,
): Promise<string> =>
  landTransaction(context, await preparedCapture(context, escrow, signed), [context.payer]);

/**
 * Settles a session that its agent closed: the merchant gets what is attested and was not captured before, and with it
 * the agent's rest and the rents come home; alone where the whole would fail. @throws SettlementError
 */
export const releaseSession = async (
  context: SettlingContext,
  escrow: Escrow,
  signed: SignedSession,
  ledgerTime: UnixSeconds,
): Promise<string> => {
  const { payer } = context;
  const whole = carriedOf(signed, { escrow, payer });
  const { address, mint, merchant, agentOwner, rentPayer } = escrow;
  return landedSettlement(
    (isBare) =>
      preparedSettlement(
        context,
        "POST /v1/escrows/{pda}/release/prepare?transaction=true",
        { ...whole, ...(isBare ? { bare: true } : {}) },
        {
          escrow: { escrow: address, mint, agentOwner, rentPayer },
          own: (deployment, prepared) => [
            ...payoutAccountIn(prepared, { payer: whole.payer, owner: merchant, mint }),
            signaturesOf(signed),
            releaseEscrowInstruction(deployment, paymentOf(escrow)),
          ],
          isBare,
          isOfProgram: true,
        },
        undefined,
      ),
    (transaction) => landTransaction(context, transaction, [payer]),
    isBareFirst(ledgerTime, endOf(escrow)),
  );
};

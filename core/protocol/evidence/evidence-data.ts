import { bytesToHex } from "@noble/hashes/utils.js";
import type { Address } from "../../domain/address.ts";
import { encodeBase64 } from "../../domain/encoding/base64.ts";
import type { Json } from "../../domain/encoding/canonical-json.ts";
import {
  type Escrow,
  isCancelled,
  isRefundable,
  refundedAmount,
} from "../../domain/escrow/escrow.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import { formatUnixTime, type UnixSeconds } from "../../domain/unix-time.ts";
import { associatedTokenAddress, merchantAddress } from "../addresses/addresses.ts";
import { attestedMessage } from "../instructions/attestation.ts";

/** What the ledger did with an escrow's money, in the evidence packet's words. */
type SettlementDecision = {
  readonly status: "released" | "refunded" | "pending";
  readonly reason:
    | "awaiting_delivery_proof"
    | "ttl_expired_refund_available"
    | "merchant_delivery_proof_verified"
    | "merchant_partial_delivery_proof_verified"
    | "ttl_expired_without_delivery_proof"
    | "session_closed_without_delivery_proof"
    | "merchant_cancelled";
};

/** Why an escrow was settled with nothing released. */
const refundReason = (escrow: Escrow): SettlementDecision["reason"] => {
  if (isCancelled(escrow)) return "merchant_cancelled";
  return escrow.closesAt === null
    ? "ttl_expired_without_delivery_proof"
    : "session_closed_without_delivery_proof";
};

/**
 * The decision of an escrow's state: what was released counts, whoever settled. The ledger's time matters only while
 * Pending, and what was captured
 * then does not.
 */
export const settlementDecision = (escrow: Escrow, ledgerTime: UnixSeconds): SettlementDecision => {
  switch (escrow.state) {
    case "Pending":
      return {
        status: "pending",
        reason: isRefundable(escrow, ledgerTime)
          ? "ttl_expired_refund_available"
          : "awaiting_delivery_proof",
      };
    case "Fulfilled":
      return { status: "released", reason: "merchant_delivery_proof_verified" };
    case "PartiallyFulfilled":
      return { status: "released", reason: "merchant_partial_delivery_proof_verified" };
    case "Refunded":
      return {
        status: "refunded",
        reason: refundReason(escrow),
      };
  }
};

/** The packet format's identifier. */
export const EVIDENCE_VERSION = "settlement-evidence-v2";

const PURPOSE =
  "Audit packet for post-payment delivery settlement state: what the merchant's attestor asserted and what the ledger did with the payment. It does not say that anything was delivered.";
const VERIFICATION =
  "Ed25519 attestation from a registered merchant key. The ledger releases an escrow only with one; it checks the signature and its time, never the delivery itself.";
const CLAIM = "asserted by the merchant's attestor";

/** Which ledger and programs a packet speaks of. */
export type EvidenceNetwork = Deployment & {
  readonly cluster: string;
  readonly genesisHash: string;
};

/** The inputs of a packet's `data`: the finalized account and, while the escrow is Pending, the ledger's clock. */
type EvidenceSource = {
  readonly network: EvidenceNetwork;
  readonly escrow: Escrow;
  readonly account: { readonly owner: Address; readonly data: Uint8Array };
  readonly slot: bigint;
  readonly ledgerTime: UnixSeconds;
};

const time = (seconds: UnixSeconds | null): string | null =>
  seconds === null ? null : formatUnixTime(seconds);

const escrowFields = (escrow: Escrow, network: EvidenceNetwork) => ({
  escrow_pda: escrow.address,
  bump: escrow.bump,
  state: escrow.state,
  agent_owner: escrow.agentOwner,
  merchant: escrow.merchant,
  merchant_pda: merchantAddress(network, escrow.merchant).address,
  mint: escrow.mint,
  vault_token_account: associatedTokenAddress(escrow.address, escrow.mint),
  rent_payer: escrow.rentPayer,
  attestor: escrow.attestor,
  session_key: escrow.sessionKey,
  task_hash: escrow.taskHash,
  amount_stroops: escrow.amount.toString(),
  released_stroops: escrow.released.toString(),
  refunded_stroops: refundedAmount(escrow).toString(),
  deliveries: escrow.deliveries,
  created_at: time(escrow.createdAt),
  expires_at: time(escrow.expiresAt),
  closes_at: time(escrow.closesAt),
  settled_at: time(escrow.settledAt),
  settled_by: escrow.settledBy,
  created_seq: escrow.createdSeq.toString(),
  settled_seq: escrow.settledSeq?.toString() ?? null,
});

const deliveryClaim = (escrow: Escrow, network: EvidenceNetwork) => {
  const { attestation } = escrow;
  const message = attestedMessage(escrow, network);
  if (attestation === null || message === null)
    return {
      proof_hash: null,
      verification: VERIFICATION,
      attestor: null,
      attested_at: null,
      attestation: null,
      claim: null,
    };
  return {
    proof_hash: attestation.proofHash,
    verification: VERIFICATION,
    attestor: escrow.attestor,
    attested_at: time(attestation.attestedAt),
    attestation: {
      message_hex: bytesToHex(message),
      signature: attestation.signature,
      public_key: escrow.attestor,
    },
    claim: CLAIM,
  };
};

/**
 * The `data` of an evidence packet. For a settled escrow it is a function of account and deployment alone, so its bytes
 * never change. Amounts are base units, because the ledger does not record what a mint's units are worth. See
 * docs/verify-evidence.md, "What follows from it".
 */
export const evidenceData = (source: EvidenceSource) => {
  const { network, escrow, account, slot, ledgerTime } = source;
  const decision = settlementDecision(escrow, ledgerTime);
  return {
    version: EVIDENCE_VERSION,
    purpose: PURPOSE,
    network: {
      cluster: network.cluster,
      genesis_hash: network.genesisHash,
      custody_program: network.custodyProgram,
      attestor_program: network.attestorProgram,
    },
    escrow: escrowFields(escrow, network),
    account: { owner: account.owner, data_base64: encodeBase64(account.data) },
    delivery_claim: deliveryClaim(escrow, network),
    settlement_decision: {
      ...decision,
      settled_at: time(escrow.settledAt),
    },
    as_of:
      escrow.state === "Pending"
        ? { slot: Number(slot), ledger_time: formatUnixTime(ledgerTime) }
        : null,
  } satisfies Json;
};

/** The unsigned content of an evidence packet; see docs/verify-evidence.md, "What follows from it". */
export type EvidenceData = ReturnType<typeof evidenceData>;

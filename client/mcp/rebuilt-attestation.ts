import { parseAmount } from "../../core/domain/amount.ts";
import { encodeBase64 } from "../../core/domain/encoding/base64.ts";
import { proofHash } from "../../core/domain/evidence/proof-template.ts";
import { parseHash32 } from "../../core/domain/hash32.ts";
import { parseUnixTime } from "../../core/domain/unix-time.ts";
import { attestationMessage } from "../../core/protocol/instructions/attestation.ts";
import { addressNamed } from "../address-named.ts";
import { type DeliveryPayload, payloadFault } from "../pay/delivery.ts";
import { SettlementError } from "../settlement-error.ts";

/** A claim as the caller made it. */
type Claim = {
  readonly escrow: string;
  readonly payload?: object;
  readonly proof_hash?: string;
  /** Base units, for a part. */
  readonly amount?: string;
};

/** What the service prepared for it. */
type Told = {
  readonly message_base64: string;
  readonly proof_hash: string;
  readonly timestamp: string;
};

/**
 * The proof hash that a claim names, or that of its payload. Undefined when there is neither, when the two differ, and for a payload
 * that can be read in two ways.
 */
const hashOf = ({ payload, proof_hash: given }: Claim) => {
  if (payload === undefined) return given === undefined ? undefined : parseHash32(given);
  const delivered = payload as DeliveryPayload;
  const hash = payloadFault(delivered) === null ? proofHash(delivered) : undefined;
  return given === undefined || given === hash ? hash : undefined;
};

/**
 * The message that an attestor signs for a claim, in base64, built anew. Escrow, proof hash and amount are the caller's; only the
 * time is the service's. @throws SettlementError `prepared_otherwise` when the service prepared another message
 */
export const rebuiltAttestation = (told: Told, claim: Claim): string => {
  const escrow = addressNamed(claim.escrow, "escrow");
  const hash = hashOf(claim);
  const timestamp = parseUnixTime(told.timestamp);
  const amount = claim.amount === undefined ? null : parseAmount(claim.amount);
  if (hash !== undefined && timestamp !== undefined && amount !== undefined) {
    const whole = { escrow, proofHash: hash, timestamp };
    const message = encodeBase64(
      attestationMessage(amount === null ? whole : { ...whole, partialAmount: amount }),
    );
    if (message === told.message_base64 && hash === told.proof_hash) return message;
  }
  throw new SettlementError(
    "prepared_otherwise",
    `The service prepared another message than that of this claim about ${escrow}.`,
    "Sign nothing of it, and do not use this service before its operator has explained it.",
  );
};

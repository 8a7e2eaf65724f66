import { encodeBase64 } from "../../core/domain/encoding/base64.ts";
import type { Escrow } from "../../core/domain/escrow/escrow.ts";
import { termsOf } from "../../core/protocol/accounts/escrow-account.ts";
import {
  type AttestationClaim,
  attestedMessage,
  domainOf,
  SINGLE_DELIVERY,
} from "../../core/protocol/instructions/attestation.ts";

type Network = Parameters<typeof domainOf>[0];

/** A signature's place in an escrow that is not signed yet, base64. */
export const UNSIGNED = encodeBase64(new Uint8Array(64));

/** An escrow whose attestation, if it has one, is really signed. */
export const attestedBy = (
  escrow: Escrow,
  network: Network,
  sign: (message: Uint8Array) => Uint8Array,
): Escrow => {
  const { attestation } = escrow;
  const message = attestedMessage(escrow, network);
  return attestation === null || message === null
    ? escrow
    : { ...escrow, attestation: { ...attestation, signature: encodeBase64(sign(message)) } };
};

/** The claim over an escrow: all of it unless `other` says so. */
export const claimOver = (
  escrow: Escrow,
  network: Network,
  other: Pick<AttestationClaim, "proofHash" | "timestamp"> & Partial<AttestationClaim>,
): AttestationClaim => ({
  domain: domainOf(network),
  terms: termsOf(escrow),
  total: escrow.amount,
  ...SINGLE_DELIVERY,
  ...other,
});

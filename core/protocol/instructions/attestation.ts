import type { Address } from "../../domain/address.ts";
import type { Hash32 } from "../../domain/hash32.ts";
import type { UnixSeconds } from "../../domain/unix-time.ts";
import { fieldWriter } from "../accounts/byte-fields.ts";

/** How far an attestation's timestamp may lie behind the ledger's clock, in seconds. */
export const MAX_ATTESTATION_AGE_SECONDS = 300n;
/** How far an attestation's timestamp may lie ahead of the ledger's clock, in seconds. */
export const MAX_ATTESTATION_LEAD_SECONDS = 30n;

/** What an attestor signs for one escrow. */
export type AttestationClaim = {
  readonly escrow: Address;
  readonly proofHash: Hash32;
  readonly timestamp: UnixSeconds;
  /** Base units that go to the merchant in a partial release; absent in a full one. */
  readonly partialAmount?: bigint;
};

/**
 * The bytes an attestor's Ed25519 key signs: `escrow || proof_hash || timestamp (i64 LE)`, 72 bytes,
 * with `amount (u64 LE)` behind them, 80 bytes, for a partial release.
 * See docs/protocol.md, "Attestation".
 */
export const attestationMessage = (claim: AttestationClaim): Uint8Array => {
  const { escrow, proofHash, timestamp, partialAmount } = claim;
  const writer = fieldWriter(partialAmount === undefined ? 72 : 80)
    .address(escrow)
    .hash(proofHash)
    .i64(timestamp);
  return (partialAmount === undefined ? writer : writer.u64(partialAmount)).done();
};

import { encodeBase64 } from "../../core/domain/encoding/base64.ts";
import type { Escrow, SettledBy } from "../../core/domain/escrow/escrow.ts";
import { settledState } from "../../core/protocol/accounts/escrow-outline.ts";
import type { AttestationClaim } from "../../core/protocol/instructions/attestation.ts";

/** What an attestation says and its signature, 64 bytes. */
export type Attested = Pick<
  AttestationClaim,
  "proofHash" | "total" | "timestamp" | "deliveries"
> & {
  readonly signature: Uint8Array;
};

const paid = (escrow: Escrow, attested: Attested): Escrow => ({
  ...escrow,
  released: attested.total,
  deliveries: attested.deliveries,
  attestation: {
    proofHash: attested.proofHash,
    attestedAt: attested.timestamp,
    signature: encodeBase64(attested.signature),
  },
});

/** A session after a capture, as docs/protocol.md, "custody", has it. */
export const captured = (escrow: Escrow, attested: Attested): Escrow => paid(escrow, attested);

/** A session after `close_session` at a time. */
export const closed = (escrow: Escrow, now: bigint): Escrow => ({
  ...escrow,
  closesAt: now + 900n < escrow.expiresAt ? now + 900n : escrow.expiresAt,
});

/** An escrow after its settlement at a time; `attested` is that of a release. */
export const settled = (
  before: Escrow,
  by: Exclude<SettledBy, null>,
  now: bigint,
  attested?: Attested,
): Escrow => {
  const escrow = attested === undefined ? before : paid(before, attested);
  return {
    ...escrow,
    state: settledState(escrow.released, escrow.amount),
    settledBy: by,
    settledAt: now,
    settledSeq: escrow.createdSeq + 1n,
  };
};

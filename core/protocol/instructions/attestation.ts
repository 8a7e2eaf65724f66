import { address } from "../../domain/address.ts";
import type { Escrow } from "../../domain/escrow/escrow.ts";
import { type Hash32, hash32FromBytes } from "../../domain/hash32.ts";
import type { UnixSeconds } from "../../domain/unix-time.ts";
import { fieldsOf, fieldWriter } from "../accounts/byte-fields.ts";
import { ledgerDomain } from "../accounts/settings-accounts.ts";
import { termsOf } from "../accounts/escrow-account.ts";
import { CUSTODY_CONSTANTS } from "../generated/custody.ts";

/** How far an attestation's timestamp may lie behind the ledger's clock, in seconds. */
export const MAX_ATTESTATION_AGE_SECONDS: bigint = CUSTODY_CONSTANTS.MAX_ATTESTATION_AGE_SECONDS;
/** How far an attestation's timestamp may lie ahead of the ledger's clock, in seconds. */
export const MAX_ATTESTATION_LEAD_SECONDS: bigint = CUSTODY_CONSTANTS.MAX_ATTESTATION_LEAD_SECONDS;

/** What an attestor signs for one escrow. */
export type AttestationClaim = {
  /** The ledger and its custody program, by `domainOf`. */
  readonly domain: Hash32;
  /** The digest of the escrow's bytes right after its creation, by `termsOf`. */
  readonly terms: Hash32;
  readonly proofHash: Hash32;
  /** Base units for the merchant in all, 1 to the escrow's amount. */
  readonly total: bigint;
  readonly timestamp: UnixSeconds;
  /** How many deliveries the total pays for, u32; 1 for a single payment. */
  readonly deliveries: number;
  /** Whether nothing is attested after it: always for a single payment, and at a session's release. */
  readonly isFinal: boolean;
};

/** The members of a claim that are the same for every single payment: one delivery, and nothing after it. */
export const SINGLE_DELIVERY = { deliveries: 1, isFinal: true } as const;

/** A ledger and its custody program. */
type Network = {
  /** In base58, as nodes and trust documents write it. */
  readonly genesisHash: string;
  readonly custodyProgram: string;
};

/** What a signature names of them. Signers take the genesis hash that they pinned, never one that a node shows. */
export const domainOf = ({ genesisHash, custodyProgram }: Network): Hash32 =>
  hash32FromBytes(ledgerDomain(address(genesisHash), address(custodyProgram)));

/** The first eight bytes of every attestation. */
export const ATTESTATION_TAG = new TextEncoder().encode("attest 3");

/** Every attestation's message has exactly this many bytes. */
export const ATTESTATION_LENGTH = 128;

/** The parts with which an attestation and a voucher begin, in bytes, and what a message with another one is. */
export const NAMING_PARTS = [
  { at: 0, length: 8, other: "is none of this protocol" },
  { at: 8, length: 32, other: "is for another ledger or custody program (domain)" },
  { at: 40, length: 32, other: "is for another escrow (terms)" },
] as const;

/**
 * The 128 bytes an attestor's Ed25519 key signs: `"attest 3" || domain || terms || proof_hash || total u64 || timestamp
 * i64 || deliveries u32 || final u8 || 0 0 0`, numbers little-endian. See docs/protocol.md, "Attestation".
 */
export const attestationMessage = (claim: AttestationClaim): Uint8Array =>
  fieldWriter(ATTESTATION_LENGTH)
    .bytes(ATTESTATION_TAG)
    .hash(claim.domain)
    .hash(claim.terms)
    .hash(claim.proofHash)
    .u64(claim.total)
    .i64(claim.timestamp)
    .u32(claim.deliveries)
    .u8(claim.isFinal ? 1 : 0)
    .skip(3)
    .done();

/** The claim in an attestation's message; undefined for bytes that `attestationMessage` never gives. */
export const readAttestationMessage = (message: Uint8Array): AttestationClaim | undefined => {
  if (message.length !== ATTESTATION_LENGTH) return undefined;
  const fields = fieldsOf(message);
  const final = fields.u8(124);
  if (!fields.isAt(0, ATTESTATION_TAG) || final > 1 || !fields.isZero(125, 3)) return undefined;
  return {
    domain: fields.hash(8),
    terms: fields.hash(40),
    proofHash: fields.hash(72),
    total: fields.u64(104),
    timestamp: fields.i64(112),
    deliveries: fields.u32(120),
    isFinal: final === 1,
  };
};

/**
 * The message that an escrow's attestor signed for its last capture or its release; null for an escrow without an
 * attestation.
 */
export const attestedMessage = (escrow: Escrow, network: Network): Uint8Array | null => {
  const { attestation } = escrow;
  if (attestation === null) return null;
  return attestationMessage({
    domain: domainOf(network),
    terms: termsOf(escrow),
    proofHash: attestation.proofHash,
    total: escrow.released,
    timestamp: attestation.attestedAt,
    deliveries: escrow.deliveries,
    isFinal: escrow.settledBy === "release",
  });
};

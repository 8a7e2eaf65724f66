import type { Address } from "../../../core/domain/address.ts";
import { type Hash32 } from "../../../core/domain/hash32.ts";
import { fieldWriter } from "../../../core/protocol/accounts/byte-fields.ts";
import { termsOf, ZERO_HASH } from "./account.ts";
import { CUSTODY, type Sent, type Verdict } from "./call.ts";
import { accountAt, DOMAIN, type World } from "./world.ts";

/** What an attestor signs for one delivery, after which there is no other. */
export type Claim = {
  readonly domain: Hash32;
  readonly terms: Hash32;
  readonly proofHash: Hash32;
  readonly total: bigint;
  readonly timestamp: bigint;
};

/** The message that an attestor must have signed: docs/protocol.md, "Attestation". */
export const messageOf = (claim: Claim): Uint8Array =>
  fieldWriter(128)
    .bytes(new TextEncoder().encode("attest 3"))
    .hash(claim.domain)
    .hash(claim.terms)
    .hash(claim.proofHash)
    .u64(claim.total)
    .i64(claim.timestamp)
    .u32(1)
    .u8(1)
    .skip(3)
    .done();

/** The claim over an escrow of a world: all of it unless `other` says so. */
export const claimOn = (
  world: World,
  address: Address,
  other: Pick<Claim, "proofHash" | "timestamp"> & Partial<Claim>,
): Claim => {
  const { content } = accountAt(world, address);
  const [terms, total] =
    content.kind === "escrow" ? [termsOf(content), content.amount] : [ZERO_HASH, 1n];
  return { domain: DOMAIN, terms, total, ...other };
};

/** Where the message's tag, domain and terms end. */
const NAMED = 72;

const same = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, i) => b[i] === byte);

/**
 * The signature of the first instruction of the one form before the running one that names the terms; a refusal unless it is the
 * attestor's over this very message.
 */
export const requireAttestation = (
  verdict: Verdict,
  before: Sent,
  attestor: Address,
  needed: Uint8Array,
): Uint8Array | undefined => {
  const attestings = before.filter((each) => each.kind === "ed25519");
  const formed = attestings.filter(({ form }) => form === "plain");
  const named = needed.subarray(0, NAMED);
  const found = formed.find(({ message }) => same(message.subarray(0, NAMED), named));
  verdict.require(attestings.length > 0, CUSTODY.AttestationMissing);
  verdict.require(attestings.length === 0 || formed.length > 0, CUSTODY.AttestationMalformed);
  verdict.require(formed.length === 0 || found !== undefined, CUSTODY.WrongTerms);
  if (found === undefined) return undefined;
  verdict.require(found.key === attestor, CUSTODY.WrongAttestor);
  verdict.require(same(found.message, needed), CUSTODY.WrongMessage);
  return found.signature;
};

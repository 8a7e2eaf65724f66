import type { Address } from "../../../core/domain/address.ts";
import { type Hash32 } from "../../../core/domain/hash32.ts";
import { fieldsOf, fieldWriter } from "../../../core/protocol/accounts/byte-fields.ts";
import { isSession, termsOf, ZERO_HASH } from "./account.ts";
import { CUSTODY, type Sent, type Signature, type Verdict } from "./call.ts";
import { accountAt, DOMAIN, type World } from "./world.ts";

/** What both kinds of signature name. */
type Named = { readonly domain: Hash32; readonly terms: Hash32 };

/** What an attestor signs for what was delivered so far. */
export type Claim = Named & {
  readonly proofHash: Hash32;
  readonly total: bigint;
  readonly timestamp: bigint;
  readonly deliveries: number;
  /** The last four bytes, of which the first is 1 for the last attestation of an escrow. */
  readonly final: number;
};

/** What a session key signs for what may be taken so far. */
export type Voucher = Named & {
  readonly orders: Hash32;
  readonly total: bigint;
  readonly count: number;
  /** The last four bytes, of which the first is 1 for the last voucher of a session. */
  readonly closing: number;
};

const utf8 = new TextEncoder();
const ATTESTATION = utf8.encode("attest 3");
const VOUCHER = utf8.encode("voucher3");

/** The message that an attestor signs: docs/protocol.md, "Attestation". */
export const messageOf = (claim: Claim): Uint8Array =>
  fieldWriter(128)
    .bytes(ATTESTATION)
    .hash(claim.domain)
    .hash(claim.terms)
    .hash(claim.proofHash)
    .u64(claim.total)
    .i64(claim.timestamp)
    .u32(claim.deliveries)
    .u32(claim.final)
    .done();

/** The message that a session key signs: docs/protocol.md, "Attestation". */
export const voucherOf = (voucher: Voucher): Uint8Array =>
  fieldWriter(120)
    .bytes(VOUCHER)
    .hash(voucher.domain)
    .hash(voucher.terms)
    .hash(voucher.orders)
    .u64(voucher.total)
    .u32(voucher.count)
    .u32(voucher.closing)
    .done();

/** The claim over an escrow of a world: all of it, as the last one, unless `other` says so. */
export const claimOn = (
  world: World,
  address: Address,
  other: Pick<Claim, "proofHash" | "timestamp"> & Partial<Claim>,
): Claim => {
  const { content } = accountAt(world, address);
  const [terms, total] =
    content.kind === "escrow" ? [termsOf(content), content.amount] : [ZERO_HASH, 1n];
  return { domain: DOMAIN, terms, total, deliveries: 1, final: 1, ...other };
};

/** The voucher that allows exactly a claim. */
export const voucherFor = (claim: Claim, other: Partial<Voucher> = {}): Voucher => {
  const { domain, terms, total, deliveries, final } = claim;
  const orders = ZERO_HASH;
  return { domain, terms, orders, total, count: deliveries, closing: final, ...other };
};

const same = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, i) => b[i] === byte);

/** Whether a message is of a kind, and names this ledger and these terms. */
const names = (of: Signature | undefined, tag: Uint8Array, { domain, terms }: Named): boolean =>
  of !== undefined &&
  same(of.message.subarray(0, 72), fieldWriter(72).bytes(tag).hash(domain).hash(terms).done());

/** What the signatures of an instruction say. */
export type Attested = {
  readonly proofHash: Hash32;
  readonly total: bigint;
  readonly timestamp: bigint;
  readonly deliveries: number;
  readonly signature: Uint8Array;
};

type Signed = { readonly attestation: Signature; readonly voucher: Signature | undefined };

/**
 * The signatures of the first earlier instruction of the form that an escrow needs whose messages name it; without one
 * the refusal says how near the transaction came.
 */
const requireNamed = (
  verdict: Verdict,
  before: Sent,
  named: Named,
  session: boolean,
): Signed | undefined => {
  const all = before.filter((each) => each.kind === "ed25519");
  const formed = all.filter(({ form }) => form === (session ? "two" : "one"));
  for (const { signed } of formed) {
    const [attestation, voucher] = signed;
    if (attestation === undefined || !names(attestation, ATTESTATION, named)) continue;
    if (!session || names(voucher, VOUCHER, named)) return { attestation, voucher };
  }
  const single = all.some(
    ({ form, signed }) => form === "one" && names(signed[0], ATTESTATION, named),
  );
  if (all.length === 0) verdict.require(false, CUSTODY.AttestationMissing);
  else if (session && single) verdict.require(false, CUSTODY.VoucherMissing);
  else
    verdict.require(false, formed.length > 0 ? CUSTODY.WrongTerms : CUSTODY.AttestationMalformed);
  return undefined;
};

/** The last word of an attestation that is not, or is, the last of its escrow. */
export const LAST = { capture: 0, release: 1 } as const;

/** What is attested, and for a session allowed, to an escrow; undefined and refusals where it is not. */
export const requireAttested = (
  v: Verdict,
  before: Sent,
  escrow: Parameters<typeof termsOf>[0],
  domain: Hash32,
  by: keyof typeof LAST,
): Attested | undefined => {
  const session = isSession(escrow);
  const found = requireNamed(v, before, { domain, terms: termsOf(escrow) }, session);
  if (found === undefined) return undefined;
  const { key, message, signature } = found.attestation;
  const fields = fieldsOf(message);
  const attested: Attested = {
    proofHash: fields.hash(72),
    total: fields.u64(104),
    timestamp: fields.i64(112),
    deliveries: fields.u32(120),
    signature,
  };
  v.require(key === escrow.attestor, CUSTODY.WrongAttestor);
  v.require(fields.u32(124) === LAST[by], CUSTODY.WrongMessage);
  if (!session) v.require(attested.deliveries === 1, CUSTODY.WrongMessage);
  if (found.voucher === undefined) return attested;
  const voucher = fieldsOf(found.voucher.message);
  const [total, count, closing] = [voucher.u64(104), voucher.u32(112), voucher.u32(116)];
  const allows =
    by === "capture"
      ? attested.total <= total && attested.deliveries <= count && closing <= 1
      : attested.total === total && attested.deliveries === count && closing === 1;
  v.require(found.voucher.key === escrow.sessionKey, CUSTODY.WrongSessionKey);
  v.require(allows, CUSTODY.WrongVoucher);
  return attested;
};

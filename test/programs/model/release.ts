import {
  INSTRUCTIONS_SYSVAR,
  TOKEN_PROGRAM,
} from "../../../core/protocol/addresses/well-known-addresses.ts";
import type { Address } from "../../../core/domain/address.ts";
import { endOf, type Escrow, isSession, type Merchant } from "./account.ts";
import { type Attested, type LAST, requireAttested } from "./attestation.ts";
import { type Arguments, ATTESTOR, CUSTODY, type Sent, type Verdict } from "./call.ts";
import { isRecordedAttestor, requireEscrow } from "./custody.ts";
import { choosePayout, closeVault, moveTokens, requireVault } from "./payout.ts";
import { settled } from "./refund.ts";
import type { At, Privileges } from "./shape.ts";
import { DOMAIN, type Draft } from "./world.ts";

const MOST_COUNT = 2n ** 64n - 1n;
const MOST_REPUTATION = 2 ** 32 - 1;
/** The maximum age and lead of an attestation by the ledger's clock, in seconds. */
const MOST_AGE = 300n;
const MOST_LEAD = 30n;

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** The merchant after a delivery: only one in the settlement mint counts towards reputation and volume. */
const delivered = (
  merchant: Merchant,
  amount: bigint,
  { partial, counts, now }: { partial: boolean; counts: boolean; now: bigint },
): Merchant => ({
  ...merchant,
  deliveries: partial ? merchant.deliveries : least(merchant.deliveries + 1n, MOST_COUNT),
  partialDeliveries: partial
    ? least(merchant.partialDeliveries + 1n, MOST_COUNT)
    : merchant.partialDeliveries,
  reputation: counts ? Math.min(merchant.reputation + 1, MOST_REPUTATION) : merchant.reputation,
  volume: counts ? least(merchant.volume + amount, MOST_COUNT) : merchant.volume,
  updatedAt: now,
});

/** What a payment to the merchant needs, be it a capture or the release. */
type Payment = {
  readonly address: Address;
  readonly escrow: Escrow;
  readonly vault: Address;
  readonly held: bigint;
  readonly to: Address;
  readonly attested: Attested;
};

/** The rules of capture and release on escrow, vault, payee and signatures. */
const requirePayment = (
  v: Verdict,
  draft: Draft,
  at: At,
  { merchantTokenBump }: Arguments["capture"],
  privileges: Privileges,
  before: Sent,
  by: keyof typeof LAST,
): Payment | undefined => {
  const address = at("escrow");
  const vault = at("vault");
  const config = draft.at(at("config")).content;
  v.require(config.kind === "config", CUSTODY.WrongConfig);
  v.require(at("token_program") === TOKEN_PROGRAM, CUSTODY.WrongTokenProgram);
  v.require(at("instructions_sysvar") === INSTRUCTIONS_SYSVAR, CUSTODY.WrongInstructionsSysvar);
  const escrow = requireEscrow(v, draft, address);
  if (escrow === undefined) return undefined;
  v.require(escrow.state === 0, CUSTODY.NotPending);
  v.require(draft.time < endOf(escrow), CUSTODY.Expired);
  if (by === "capture") v.require(isSession(escrow), CUSTODY.NotSession);
  const merchant = draft.at(at("merchant")).content;
  if (merchant.kind !== "merchant") v.require(false, CUSTODY.WrongMerchant);
  else {
    v.require(merchant.wallet === escrow.merchant, CUSTODY.WrongMerchant);
    v.require(escrow.createdSeq > merchant.revokedSeq, CUSTODY.EscrowRevoked);
  }
  const held = requireVault(v, draft, address, escrow, vault);
  const payee = {
    wallet: escrow.merchant,
    associated: at("merchant_token_account"),
    fallback: at("merchant_fallback_account"),
    bump: merchantTokenBump,
    wrong: CUSTODY.WrongMerchantTokenAccount,
  };
  const to = choosePayout(v, draft, payee, escrow.mint, privileges);
  const domain = config.kind === "config" ? config.domain : DOMAIN;
  const attested = requireAttested(v, before, escrow, domain, by);
  if (attested !== undefined) {
    const { total, timestamp, deliveries } = attested;
    v.require(total <= escrow.amount && total >= escrow.released, CUSTODY.InvalidAmount);
    v.require(total > (by === "capture" ? escrow.released : 0n), CUSTODY.InvalidAmount);
    v.require(deliveries >= escrow.deliveries, CUSTODY.DeliveriesFall);
    v.require(timestamp >= escrow.createdAt, CUSTODY.AttestationOutsideEscrow);
    v.require(timestamp - draft.time <= MOST_LEAD, CUSTODY.AttestationFromFuture);
    if (by === "release") {
      v.require(timestamp < endOf(escrow), CUSTODY.AttestationOutsideEscrow);
      v.require(draft.time - timestamp <= MOST_AGE, CUSTODY.AttestationStale);
    }
  }
  if (held === undefined || to === undefined || attested === undefined) return undefined;
  return { address, escrow, vault, held, to, attested };
};

/** The escrow with what was attested. */
const paid = (
  escrow: Escrow,
  { total, deliveries, proofHash, timestamp, signature }: Attested,
): Escrow => ({
  ...escrow,
  released: total,
  deliveries,
  proofHash,
  attestedAt: timestamp,
  signature,
});

type Rest = [Arguments["capture"], Privileges, Sent];

/** `capture`. */
export const capture = (v: Verdict, draft: Draft, at: At, ...rest: Rest): void => {
  const payment = requirePayment(v, draft, at, ...rest, "capture");
  if (!v.accepted || payment === undefined) return;
  const { address, escrow, vault, to, attested } = payment;
  moveTokens(draft, vault, to, attested.total - escrow.released);
  draft.put(address, { ...draft.at(address), content: paid(escrow, attested) });
};

/** `release_escrow`. */
export const releaseEscrow = (v: Verdict, draft: Draft, at: At, ...rest: Rest): void => {
  v.require(isRecordedAttestor(draft, at("attestor_program")), CUSTODY.WrongAttestorProgram);
  const registry = draft.at(at("registry")).content;
  v.require(registry.kind === "registry", ATTESTOR.WrongRegistry);
  const payment = requirePayment(v, draft, at, ...rest, "release");
  const merchant = draft.at(at("merchant")).content;
  if (!v.accepted || payment === undefined) return;
  if (merchant.kind !== "merchant" || registry.kind !== "registry") return;

  const { address, escrow, vault, held, to, attested } = payment;
  const { total } = attested;
  const whole = total === escrow.amount;
  const counts = escrow.mint === registry.settlementMint;
  const content = delivered(merchant, total, { partial: !whole, counts, now: draft.time });
  draft.put(at("merchant"), { ...draft.at(at("merchant")), content });
  moveTokens(draft, vault, to, whole ? held : total - escrow.released);
  if (whole) closeVault(draft, vault, address);
  draft.number(address, settled(paid(escrow, attested), 1, draft.time), "settledSeq");
};

import {
  INSTRUCTIONS_SYSVAR,
  TOKEN_PROGRAM,
} from "../../../core/protocol/addresses/well-known-addresses.ts";
import { type Merchant, termsOf } from "./account.ts";
import { messageOf, requireAttestation } from "./attestation.ts";
import { type Arguments, ATTESTOR, CUSTODY, type Sent, type Verdict } from "./call.ts";
import { isRecordedAttestor, requireEscrow } from "./custody.ts";
import { choosePayout, closeVault, moveTokens, requireVault, tokensIn } from "./payout.ts";
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

/** `release_escrow`, and `release_partial` when there is a part. */
export const releaseEscrow = (
  v: Verdict,
  draft: Draft,
  at: At,
  args: Arguments["release_escrow"],
  privileges: Privileges,
  before: Sent,
  part?: Pick<Arguments["release_partial"], "amount" | "agentTokenBump">,
): void => {
  const address = at("escrow");
  const vault = at("vault");
  const rentPayer = at("rent_payer");
  v.require(draft.at(at("config")).content.kind === "config", CUSTODY.WrongConfig);
  v.require(isRecordedAttestor(draft, at("attestor_program")), CUSTODY.WrongAttestorProgram);
  v.require(at("token_program") === TOKEN_PROGRAM, CUSTODY.WrongTokenProgram);
  v.require(at("instructions_sysvar") === INSTRUCTIONS_SYSVAR, CUSTODY.WrongInstructionsSysvar);
  const registry = draft.at(at("registry")).content;
  v.require(registry.kind === "registry", ATTESTOR.WrongRegistry);
  const escrow = requireEscrow(v, draft, address);
  if (escrow === undefined) return;
  v.require(escrow.state === 0, CUSTODY.NotPending);
  v.require(draft.time < escrow.expiresAt, CUSTODY.Expired);
  const merchant = draft.at(at("merchant")).content;
  if (merchant.kind !== "merchant") v.require(false, CUSTODY.WrongMerchant);
  else {
    v.require(merchant.wallet === escrow.merchant, CUSTODY.WrongMerchant);
    v.require(escrow.createdSeq > merchant.revokedSeq, CUSTODY.EscrowRevoked);
  }
  requireVault(v, draft, { address, data: escrow }, { vault, rentPayer });
  const toMerchant = choosePayout(
    v,
    draft,
    {
      wallet: escrow.merchant,
      associated: at("merchant_token_account"),
      fallback: at("merchant_fallback_account"),
      bump: args.merchantTokenBump,
      wrong: CUSTODY.WrongMerchantTokenAccount,
    },
    escrow.mint,
    privileges,
  );
  const toAgent =
    part &&
    choosePayout(
      v,
      draft,
      {
        wallet: escrow.agentOwner,
        associated: at("agent_token_account"),
        fallback: at("agent_fallback_account"),
        bump: part.agentTokenBump,
        wrong: CUSTODY.WrongAgentTokenAccount,
      },
      escrow.mint,
      privileges,
    );
  const total = part?.amount ?? escrow.amount;
  if (part !== undefined) v.require(total > 0n && total < escrow.amount, CUSTODY.InvalidAmount);
  const { proofHash, timestamp } = args;
  const config = draft.at(at("config")).content;
  const domain = config.kind === "config" ? config.domain : DOMAIN;
  const needed = messageOf({ domain, terms: termsOf(escrow), proofHash, total, timestamp });
  const signature = requireAttestation(v, before, escrow.attestor, needed);
  v.require(
    timestamp >= escrow.createdAt && timestamp < escrow.expiresAt,
    CUSTODY.AttestationOutsideEscrow,
  );
  v.require(draft.time - timestamp <= MOST_AGE, CUSTODY.AttestationStale);
  v.require(timestamp - draft.time <= MOST_LEAD, CUSTODY.AttestationFromFuture);
  if (!v.accepted || toMerchant === undefined || signature === undefined) return;
  if (merchant.kind !== "merchant" || registry.kind !== "registry") return;

  const content = delivered(merchant, total, {
    partial: part !== undefined,
    counts: escrow.mint === registry.settlementMint,
    now: draft.time,
  });
  draft.put(at("merchant"), { ...draft.at(at("merchant")), content });
  if (toAgent === undefined) moveTokens(draft, vault, toMerchant, tokensIn(draft, vault));
  else {
    moveTokens(draft, vault, toMerchant, total);
    moveTokens(draft, vault, toAgent, tokensIn(draft, vault));
  }
  closeVault(draft, vault, address, rentPayer);
  draft.number(
    address,
    {
      ...escrow,
      state: part === undefined ? 1 : 3,
      released: total,
      settledAt: draft.time,
      proofHash,
      attestedAt: timestamp,
      signature,
    },
    "settledSeq",
  );
};

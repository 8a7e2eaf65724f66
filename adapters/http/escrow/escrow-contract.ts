import { type Static, Type } from "@sinclair/typebox";
import {
  type Escrow as DomainEscrow,
  isRefundable,
  refundedAmount,
} from "../../../core/domain/escrow/escrow.ts";
import { listedMint, usdcOf } from "../../../core/domain/supported-mint.ts";
import { formatUnixTime, type UnixSeconds } from "../../../core/domain/unix-time.ts";
import { vaultAddress, merchantAddress } from "../../../core/protocol/addresses/addresses.ts";
import {
  type ActionGround,
  nextActions,
} from "../../../core/protocol/instructions/next-actions.ts";
import { NextAction, nextActionRecord } from "./next-action-contract.ts";
import type { Instance } from "../../../ports/instance.ts";
import {
  Address,
  EscrowState,
  Hash,
  MintSupported,
  MintSymbol,
  nullable,
  record,
  Stroops,
  Time,
  UsdcOrNull,
} from "../openapi/values.ts";
import { sampleInstance } from "../openapi/sample-instance.ts";
import { SAMPLE, sampleEscrow } from "../openapi/sample-values.ts";

/** One escrow, as the ledger or the index shows it. */
export const Escrow = record("Escrow", "One escrow.", {
  escrow_pda: Address("The escrow's own address."),
  state: EscrowState,
  agent_owner: Address("The agent's wallet, which paid."),
  merchant: Address("The merchant's wallet, which receives the payment."),
  merchant_pda: Address("The merchant's account in the attestor program."),
  mint: Address("The token's mint."),
  mint_supported: MintSupported,
  symbol: MintSymbol,
  vault_token_account: Address("The account that holds the tokens until settlement."),
  rent_payer: Address(
    "Who paid the vault's rent and gets it back; a release or a refund names it.",
  ),
  amount_stroops: Stroops("Escrowed base units."),
  amount_usdc: UsdcOrNull("The escrowed amount in USDC."),
  released_stroops: Stroops("Base units that went to the merchant."),
  refunded_stroops: Stroops("Base units that went back to the agent."),
  task_hash: Hash("SHA-256 of the task that is paid for."),
  proof_hash: nullable(Hash("What the merchant's attestor signed.")),
  attestor: Address("The only key that can release it: the merchant's attestor at its creation."),
  attested_at: nullable(Time("The timestamp inside the signed message.")),
  created_at: Time("When the escrow was created, by the ledger's clock."),
  expires_at: Time("From here on it can only be refunded."),
  settled_at: nullable(Time("When it was released or refunded.")),
  refundable: Type.Boolean({ description: "Pending, and past its expiry." }),
  next_actions: Type.Array(NextAction, { description: "Empty once settled." }),
});
/** An escrow as JSON; amounts are decimal strings of base units, times RFC 3339. */
export type EscrowRecord = Static<typeof Escrow>;

/** A time as JSON, null when there is none. */
const timeOrNull = (seconds: UnixSeconds | null): string | null =>
  seconds === null ? null : formatUnixTime(seconds);

/**
 * An escrow as JSON at a ledger time, which decides whether it can be refunded, with its mint as the instance
 * lists it; `ground` as `nextActions` takes it.
 */
export const escrowRecord = (
  escrow: DomainEscrow,
  ledgerTime: UnixSeconds,
  { deployment, supportedMints }: Pick<Instance["Service"], "deployment" | "supportedMints">,
  ground?: ActionGround,
): EscrowRecord => {
  const listed = listedMint(supportedMints, escrow.mint);
  return {
    escrow_pda: escrow.address,
    state: escrow.state,
    agent_owner: escrow.agentOwner,
    merchant: escrow.merchant,
    merchant_pda: merchantAddress(deployment, escrow.merchant).address,
    mint: escrow.mint,
    mint_supported: listed !== undefined,
    symbol: listed?.symbol ?? null,
    vault_token_account: vaultAddress(escrow),
    rent_payer: escrow.rentPayer,
    amount_stroops: escrow.amount.toString(),
    amount_usdc: usdcOf(escrow.amount, listed),
    released_stroops: escrow.released.toString(),
    refunded_stroops: refundedAmount(escrow).toString(),
    task_hash: escrow.taskHash,
    proof_hash: escrow.attestation?.proofHash ?? null,
    attestor: escrow.attestor,
    attested_at: timeOrNull(escrow.attestation?.attestedAt ?? null),
    created_at: formatUnixTime(escrow.createdAt),
    expires_at: formatUnixTime(escrow.expiresAt),
    settled_at: timeOrNull(escrow.settledAt),
    refundable: isRefundable(escrow, ledgerTime),
    next_actions: nextActions(escrow, ledgerTime, deployment, ground).map(nextActionRecord),
  };
};

/** The example escrow of the documentation. */
export const escrowExample = () =>
  escrowRecord(sampleEscrow(), SAMPLE.createdAt + 30n, sampleInstance());

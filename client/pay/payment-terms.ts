import type { Address } from "../../core/domain/address.ts";
import { parseUnits } from "../../core/domain/amount.ts";
import { MAX_TTL_SECONDS, MIN_TTL_SECONDS } from "../../core/domain/escrow/escrow.ts";
import {
  MAX_NONCE_BYTES,
  MAX_TASK_INTENT_BYTES,
  taskHash,
  taskTextFault,
} from "../../core/domain/escrow/task-hash.ts";
import type { TrustPolicy } from "../../core/domain/evidence/evidence-check.ts";
import type { Hash32 } from "../../core/domain/hash32.ts";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import type { SupportedMint } from "../../core/domain/supported-mint.ts";
import { parseUnixTime, type UnixSeconds } from "../../core/domain/unix-time.ts";
import { escrowAddress } from "../../core/protocol/addresses/addresses.ts";
import { addressNamed } from "../pinned-policy.ts";
import { SettlementError } from "../settlement-error.ts";

/**
 * Base units of a decimal amount such as `1.50` of a mint with `decimals`, 1 to 2^64-1. @throws SettlementError for
 * another text, and for more decimals than the mint has.
 */
export const unitsOf = (amount: string, decimals: number): bigint => {
  const units = parseUnits(amount, decimals);
  if (units === undefined)
    throw new SettlementError(
      "invalid_amount",
      `${amount} is no amount of a mint with ${decimals} decimals.`,
      `Give a text such as "1.50": above zero, with at most ${decimals} decimals.`,
    );
  return units;
};

/** What a payment is for, as an agent says it. */
export type Payment = {
  /** The merchant's wallet. */
  readonly merchant: string;
  /** Decimal, such as "1.50". */
  readonly amount: string;
  /** What is to be done, 1 to 4,096 bytes of UTF-8, such as the request that is paid for. */
  readonly task: string;
  /**
   * Seconds until the agent can have the money back, 1 to 604,800. With `expiresAt` the most that they may be; then it
   * may be left out.
   */
  readonly ttl?: number;
  /**
   * The time itself from which the agent can have the money back, such as "2026-11-30T12:00:00Z", at most 604,800 s
   * ahead of the ledger's clock. With `ttl` the end depends on the second in which the payment lands.
   */
  readonly expiresAt?: string;
  /**
   * Tells apart payments for the same task, 1 to 128 bytes. The same agent, task and nonce are one payment, however
   * often it is run. Made up when left out, and then every call is a payment of its own.
   */
  readonly nonce?: string;
  /** A mint of the trust document; it may be left out when that lists one. */
  readonly mint?: string;
  /** The key that must attest; the merchant's present one when left out. */
  readonly attestor?: string;
};

/** What follows from a payment before anybody is asked. */
export type PaymentTerms = {
  readonly agent: Address;
  readonly merchant: Address;
  readonly mint: SupportedMint;
  /** Base units. */
  readonly amount: bigint;
  readonly task: string;
  readonly nonce: string;
  readonly taskHash: Hash32;
  /** With `expiresAt` the most that may be left until then. */
  readonly ttlSeconds: number;
  /** The end as an absolute time; null when it follows from `ttlSeconds`. */
  readonly expiresAt: UnixSeconds | null;
  readonly attestor: Address | null;
  /** The key that signs a session's vouchers; null for a single payment. */
  readonly sessionKey: Address | null;
  /** The only escrow that this agent can ever make for this task and nonce. */
  readonly escrow: Address;
};

const invalid = (what: string, why: string): never => {
  throw new SettlementError(`invalid_${what}`, `${what} ${why}.`, `Correct ${what}.`);
};

const textIn = (text: string, maxBytes: number, what: string): string => {
  const fault = taskTextFault(text, maxBytes);
  return fault === undefined ? text : invalid(what, fault);
};

const timeIn = (text: string): UnixSeconds =>
  parseUnixTime(text) ?? invalid("expires_at", "must be a time such as 2026-11-30T12:00:00Z");

/** The mint that a text names in a policy; the only one of it when left out. @throws SettlementError `invalid_mint` */
export const mintOf = (policy: TrustPolicy, text: string | undefined): SupportedMint => {
  const { supportedMints } = policy;
  const listed = supportedMints.map(({ symbol, address }) => `${symbol} (${address})`).join(", ");
  if (text === undefined) {
    const [only] = supportedMints;
    return only !== undefined && supportedMints.length === 1
      ? only
      : invalid("mint", `must be named: the trust document lists ${listed || "none"}`);
  }
  return (
    supportedMints.find(({ address }) => address === text) ??
    invalid("mint", `is not one of the trust document's: ${listed || "it lists none"}`)
  );
};

/** The programs of a trust policy. @throws SettlementError where one has no address. */
export const deploymentIn = (policy: TrustPolicy): Deployment => ({
  custodyProgram: addressNamed(policy.custodyProgram, "trust"),
  attestorProgram: addressNamed(policy.attestorProgram, "trust"),
});

/**
 * What a payment by `agent` comes to under a trust policy, or a session's budget with its key. @throws SettlementError
 * that names what is wrong with it.
 */
export const paymentTerms = (
  payment: Payment,
  agent: string,
  policy: TrustPolicy,
  sessionKey: Address | null = null,
): PaymentTerms => {
  const { nonce = crypto.randomUUID() } = payment;
  const { ttl = payment.expiresAt === undefined ? Number.NaN : MAX_TTL_SECONDS } = payment;
  if (!Number.isInteger(ttl) || ttl < MIN_TTL_SECONDS || ttl > MAX_TTL_SECONDS)
    invalid("ttl", `must be ${MIN_TTL_SECONDS} to ${MAX_TTL_SECONDS} whole seconds`);
  const mint = mintOf(policy, payment.mint);
  const owner = addressNamed(agent, "signer");
  const task = textIn(payment.task, MAX_TASK_INTENT_BYTES, "task");
  const hash = taskHash(task, textIn(nonce, MAX_NONCE_BYTES, "nonce"));
  return {
    agent: owner,
    merchant: addressNamed(payment.merchant, "merchant"),
    mint,
    amount: unitsOf(payment.amount, mint.decimals),
    task,
    nonce,
    taskHash: hash,
    ttlSeconds: ttl,
    expiresAt: payment.expiresAt === undefined ? null : timeIn(payment.expiresAt),
    attestor: payment.attestor === undefined ? null : addressNamed(payment.attestor, "attestor"),
    sessionKey,
    escrow: escrowAddress(deploymentIn(policy), owner, hash).address,
  };
};

import { parseAmount } from "../../../core/domain/amount.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { MAX_TTL_SECONDS, MIN_TTL_SECONDS } from "../../../core/domain/escrow/escrow.ts";
import { taskHash } from "../../../core/domain/escrow/task-hash.ts";
import type { TrustPolicy } from "../../../core/domain/evidence/evidence-check.ts";
import { parseUnixTime } from "../../../core/domain/unix-time.ts";
import { escrowAddress } from "../../../core/protocol/addresses/addresses.ts";
import { expectedLock } from "../../pay/locking-transaction.ts";
import { deploymentIn } from "../../pay/payment-terms.ts";
import { addressNamed } from "../../pinned-policy.ts";
import { SettlementError } from "../../settlement-error.ts";
import { ask, membersOf } from "../ask.ts";
import { knownDeployment } from "../known-deployment.ts";
import { heldTo, PREPARED, type Prepared } from "../output.ts";
import { address, optional, text, type ValuesOf, whole } from "../parameter.ts";
import { tool } from "../tool.ts";

const parameters = {
  agent: address("Wallet that pays and signs"),
  merchant: address(),
  mint: address(),
  amount: text("Base units"),
  ttl_seconds: whole(MIN_TTL_SECONDS, MAX_TTL_SECONDS, "Then refundable"),
  expires_at: optional(text("The end as a time, within ttl_seconds; takes its place")),
  task: text("What is paid for, word for word"),
  nonce: text("New for each payment, the same to repeat one: task and nonce make the escrow"),
  payer: optional(address("Of the fee; the agent by default")),
} as const;

/** The terms of a payment as the caller gave them. */
type Terms = ValuesOf<typeof parameters>;

/**
 * Rebuilds a prepared payment from the caller's terms and the programs of `policy`. Only the blockhash, the compute
 * budget, the attestor and the last block height are taken from the service. The ledger accepts only the merchant's own
 * attestor.
 * @throws SettlementError `prepared_otherwise` when the service prepared anything else
 */
const rebuiltPayment = (told: Prepared, terms: Terms, policy: TrustPolicy): Prepared => {
  const { agent: from, merchant, mint, ttl_seconds: ttlSeconds, task, nonce, payer = from } = terms;
  const amount = parseAmount(terms.amount);
  if (amount === undefined)
    throw new SettlementError(
      "validation_failed",
      "amount must be base units, 1 to 2^64-1.",
      "Correct the call. Nothing was signed or sent.",
    );
  const expiresAt = terms.expires_at === undefined ? null : parseUnixTime(terms.expires_at);
  if (expiresAt === undefined)
    throw new SettlementError(
      "validation_failed",
      "expires_at must be a time such as 2026-11-30T12:00:00Z.",
      "Correct the call. Nothing was signed or sent.",
    );
  const agent = addressNamed(from, "agent");
  const hash = taskHash(task, nonce);
  const { address: escrow } = escrowAddress(deploymentIn(policy), agent, hash);
  if (told.escrow !== escrow)
    throw new SettlementError(
      "prepared_otherwise",
      `The service prepared the escrow ${told.escrow}, and these terms make ${escrow}.`,
      "Sign nothing of it, and do not use this service before its operator has explained it.",
    );
  const { bytes, signers } = expectedLock(
    told.transaction,
    policy,
    {
      agent,
      merchant: addressNamed(merchant, "merchant"),
      mint: { address: addressNamed(mint, "mint") },
      taskHash: hash,
      amount,
      ttlSeconds,
      expiresAt,
      attestor: null,
      sessionKey: null,
    },
    addressNamed(payer, "payer"),
  );
  return { ...told, escrow, transaction: encodeBase64(bytes), signers: [...signers] };
};

/** `prepare_payment`: the unsigned transaction that locks a payment in an escrow. */
export const preparePayment = tool({
  name: "prepare_payment",
  description:
    "Unsigned transaction that locks a payment for a merchant. Sends nothing. Decode and compare it with your terms before you sign.",
  parameters,
  output: PREPARED,
  run: async (terms, context) => {
    const operation = "POST /v1/escrows/prepare?transaction=true";
    const told = heldTo(PREPARED, await ask(context.call, operation, membersOf(terms)));
    if (!context.rebuilds) return { result: told };
    const { policy } = await knownDeployment(context);
    return { result: rebuiltPayment(told, terms, policy) };
  },
});

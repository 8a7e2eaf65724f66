import { parseAmount } from "../../core/domain/amount.ts";
import type { TrustPolicy } from "../../core/domain/evidence/evidence-check.ts";
import { encodeBase64 } from "../../core/domain/encoding/base64.ts";
import { taskHash } from "../../core/domain/escrow/task-hash.ts";
import { escrowAddress } from "../../core/protocol/addresses/addresses.ts";
import { addressNamed } from "../address-named.ts";
import { expectedLock } from "../pay/locking-transaction.ts";
import { deploymentIn } from "../pay/payment-terms.ts";
import { SettlementError } from "../settlement-error.ts";
import type { HeldTo, PREPARED } from "./output.ts";

/** The terms of a payment as the caller gave them. */
type Terms = {
  readonly agent: string;
  readonly merchant: string;
  readonly mint: string;
  /** Base units. */
  readonly amount: string;
  readonly ttl_seconds: number;
  readonly task: string;
  readonly nonce: string;
  readonly payer?: string;
};

type Told = HeldTo<typeof PREPARED>;

/**
 * A payment that the service prepared, built anew from the caller's terms and the programs of `policy`: escrow, bytes and signers follow from them. Only the blockhash, the
 * compute budget, the attestor and the last block height are the service's; the ledger takes no attestor but the merchant's own. @throws SettlementError
 * `prepared_otherwise` for anything else than was asked for
 */
export const rebuiltPayment = (told: Told, terms: Terms, policy: TrustPolicy): Told => {
  const { agent: from, merchant, mint, ttl_seconds: ttlSeconds, task, nonce, payer = from } = terms;
  const amount = parseAmount(terms.amount);
  if (amount === undefined)
    throw new SettlementError(
      "validation_failed",
      "amount must be base units, 1 to 2^64-1.",
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
      attestor: null,
    },
    addressNamed(payer, "payer"),
  );
  return { ...told, escrow, transaction: encodeBase64(bytes), signers: [...signers] };
};

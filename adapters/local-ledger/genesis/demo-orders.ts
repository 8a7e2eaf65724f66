import type { Address } from "../../../core/domain/address.ts";
import { type Hash32, hash32FromBytes } from "../../../core/domain/hash32.ts";
import { proofHash } from "../../../core/domain/evidence/proof-template.ts";
import { taskHash } from "../../../core/domain/escrow/task-hash.ts";
import { formatUnixTime } from "../../../core/domain/unix-time.ts";
import { escrowAddress } from "../../../core/protocol/addresses/addresses.ts";
import { attestationMessage } from "../../../core/protocol/instructions/attestation.ts";
import {
  claimRefundInstruction,
  createEscrowInstruction,
  releaseEscrowInstruction,
  releasePartialInstruction,
} from "../../../core/protocol/instructions/custody-instructions.ts";
import { ed25519Instruction } from "../../../core/protocol/instructions/ed25519-instruction.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { createAssociatedTokenInstruction } from "../../../core/protocol/accounts/token.ts";
import { LOCAL_FAUCET, LOCAL_USDC_MINT, type LocalKey } from "./local-keys.ts";
import { runLocally } from "./local-transactions.ts";
import type { LocalLedger } from "../runtime/ledger.ts";

/** A merchant of the demo data. */
export type DemoMerchant = {
  readonly wallet: LocalKey;
  readonly attestor: LocalKey;
  readonly name: string;
};

/** What an agent of the demo data buys. */
export type DemoOrder = {
  readonly agent: LocalKey;
  readonly merchant: DemoMerchant;
  /** The URL that the agent requests from the merchant's API. */
  readonly url: string;
  readonly nonce: string;
  /** Base units. */
  readonly amount: bigint;
  readonly ttlSeconds: number;
};

/** An order whose escrow is open. */
export type OpenOrder = DemoOrder & { readonly escrow: Address; readonly taskHash: Hash32 };

/** Locks an order's amount; the task is the request line `GET <url>`. */
export const openEscrow = (ledger: LocalLedger, order: DemoOrder): OpenOrder => {
  const agentOwner = order.agent.address;
  const hash = taskHash(`GET ${order.url}`, order.nonce);
  const create = createEscrowInstruction(LOCAL_DEPLOYMENT, {
    payer: agentOwner,
    agentOwner,
    merchant: order.merchant.wallet.address,
    mint: LOCAL_USDC_MINT,
    taskHash: hash,
    amount: order.amount,
    ttlSeconds: order.ttlSeconds,
  });
  runLocally(ledger, order.agent, [], [create]);
  const { address } = escrowAddress(LOCAL_DEPLOYMENT, agentOwner, hash);
  return { ...order, escrow: address, taskHash: hash };
};

/** The hash of the delivery payload (template `api-delivered-v1`) that the attestor signs. */
const deliveryHash = (order: OpenOrder, timestamp: bigint): Hash32 =>
  proofHash({
    proof_template_id: "api-delivered-v1",
    task_hash: order.taskHash,
    request_url: order.url,
    status_code: 200,
    content_sha256: hash32FromBytes(
      new Uint8Array(Bun.SHA256.hash(`{"answer":"to ${order.url}"}`).buffer),
    ),
    delivered_at: formatUnixTime(timestamp),
  });

/**
 * Pays the merchant under an attestation made now: the whole amount, or `partialAmount` base units with the rest to the
 * agent.
 */
export const releaseEscrow = (
  ledger: LocalLedger,
  order: OpenOrder,
  partialAmount?: bigint,
): void => {
  const { wallet, attestor } = order.merchant;
  const timestamp = BigInt(ledger.clock.unixTime(ledger.slots.current()));
  const claim = { escrow: order.escrow, proofHash: deliveryHash(order, timestamp), timestamp };
  const message = attestationMessage(
    partialAmount === undefined ? claim : { ...claim, partialAmount },
  );
  const input = {
    ...claim,
    mint: LOCAL_USDC_MINT,
    rentPayer: order.agent.address,
    merchant: wallet.address,
  };
  runLocally(
    ledger,
    wallet,
    [],
    [
      ed25519Instruction({
        publicKey: attestor.address,
        signature: attestor.sign(message),
        message,
      }),
      createAssociatedTokenInstruction({
        payer: wallet.address,
        owner: wallet.address,
        mint: LOCAL_USDC_MINT,
      }),
      partialAmount === undefined
        ? releaseEscrowInstruction(LOCAL_DEPLOYMENT, input)
        : releasePartialInstruction(LOCAL_DEPLOYMENT, {
            ...input,
            agentOwner: order.agent.address,
            amount: partialAmount,
          }),
    ],
  );
};

/** Refunds an expired escrow to its agent. The faucet sends it, because anyone may. */
export const refundEscrow = (ledger: LocalLedger, { escrow, agent }: OpenOrder): void => {
  const refund = claimRefundInstruction(LOCAL_DEPLOYMENT, {
    escrow,
    mint: LOCAL_USDC_MINT,
    rentPayer: agent.address,
    agentOwner: agent.address,
  });
  runLocally(ledger, LOCAL_FAUCET, [], [refund]);
};

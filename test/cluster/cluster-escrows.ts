import { mintTokens } from "../../adapters/local-ledger/genesis/funding-instructions.ts";
import { type DeployContext, landed, TransactionRefused } from "../../app/deploy/deploy-context.ts";
import { deployKeyOf } from "../../app/deploy/inputs/deploy-key.ts";
import type { Address } from "../../core/domain/address.ts";
import { hash32FromBytes } from "../../core/domain/hash32.ts";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import { createAssociatedTokenInstruction } from "../../core/protocol/accounts/token.ts";
import { associatedTokenAddress, escrowAddress } from "../../core/protocol/addresses/addresses.ts";
import { registerMerchantInstruction } from "../../core/protocol/instructions/attestor-instructions.ts";
import {
  claimRefundInstruction,
  createEscrowInstruction,
} from "../../core/protocol/instructions/custody-instructions.ts";

const TOKENS = 1000n;

/**
 * Escrows of one base unit and one second that a payer makes for a new merchant, and gets back. The payer is the mint's
 * authority.
 */
export const clusterEscrows = async (
  context: DeployContext,
  deployment: Deployment,
  mint: Address,
) => {
  const payer = context.payer.address;
  const merchant = deployKeyOf(crypto.getRandomValues(new Uint8Array(32)));
  const must = async (what: string, unsent: Parameters<typeof landed>[2]): Promise<void> => {
    for (let tries = 0; tries < 3; tries++) if (await landed(context, what, unsent)) return;
    throw new Error(`${what}: the transaction does not land`);
  };
  const account = associatedTokenAddress(payer, mint);
  await must("registering a merchant", {
    signers: [merchant],
    instructions: [
      registerMerchantInstruction(deployment, {
        payer,
        merchant: merchant.address,
        attestor: merchant.address,
        name: "test:cluster",
      }),
      createAssociatedTokenInstruction({ payer, owner: payer, mint }),
      mintTokens({ mint, account, authority: payer, amount: TOKENS }),
    ],
  });
  const open: Array<Address> = [];

  return {
    /** Makes an escrow. */
    create: async (): Promise<void> => {
      const taskHash = hash32FromBytes(crypto.getRandomValues(new Uint8Array(32)));
      const create = createEscrowInstruction(deployment, {
        payer,
        agentOwner: payer,
        merchant: merchant.address,
        mint,
        taskHash,
        amount: 1n,
        ttlSeconds: 1,
      });
      await must("creating an escrow", { instructions: [create] });
      open.push(escrowAddress(deployment, payer, taskHash).address);
    },
    /**
     * Refunds the oldest open escrow if the ledger's clock has passed its second, and returns how many were refunded, 0
     * or 1.
     */
    refund: async (): Promise<bigint> => {
      const [escrow] = open;
      if (escrow === undefined) return 0n;
      const input = { escrow, mint, rentPayer: payer, agentOwner: payer };
      try {
        await must("refunding an escrow", {
          instructions: [claimRefundInstruction(deployment, input)],
        });
      } catch (cause) {
        if (!(cause instanceof TransactionRefused)) throw cause;
        return 0n;
      }
      open.shift();
      return 1n;
    },
  };
};

/** See `clusterEscrows`. */
export type ClusterEscrows = Awaited<ReturnType<typeof clusterEscrows>>;

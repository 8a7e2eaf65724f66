import { numbered } from "../../arbitraries/escrow-numbers.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
import type { Address } from "../../../core/domain/address.ts";
import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";
import { hash32FromBytes } from "../../../core/domain/hash32.ts";
import { escrowAddress } from "../../../core/protocol/addresses/addresses.ts";
import { createEscrowInstruction } from "../../../core/protocol/instructions/custody-instructions.ts";
import { encodeEscrowAccount } from "../../../core/protocol/accounts/escrow-account.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { encodeMerchantAccount } from "../../../core/protocol/accounts/merchant-account.ts";
import { decodeWireTransaction } from "../../../core/protocol/transaction/wire-transaction.ts";
import { blockhashOf, signedBytes } from "../../core/use-cases/relay/signed.ts";
import { accountOf } from "../../doubles/accounts.ts";
import * as s from "../../programs/fixture/settlement.ts";
import { wallet } from "../../programs/fixture/wallet.ts";

/** A signed payment for a job: an escrow with a task hash of its own. */
export type Attempt = {
  readonly signature: string;
  readonly blockhash: string;
  readonly base64: string;
  readonly bytes: Uint8Array;
  readonly feePayer: Address;
  /** The escrow account that it creates. */
  readonly escrow: LedgerAccount;
};

/** The registered merchant of all jobs. */
export const MERCHANT_ACCOUNT: LedgerAccount = (() => {
  const merchant = s.readMerchant(s.merchantLedger());
  const data = encodeMerchantAccount(merchant);
  return accountOf(merchant.address, LOCAL_DEPLOYMENT.attestorProgram, data);
})();

const prepare = (job: number, attempt: number, task: number): Attempt => {
  const agent = wallet(`agent of job ${job}`);
  const taskHash = hash32FromBytes(new Uint8Array(32).fill(task));
  const blockhash = blockhashOf(16 * job + attempt + 1);
  const terms = {
    payer: agent.address,
    agentOwner: agent.address,
    merchant: s.merchant.address,
    mint: s.mint,
    taskHash,
    amount: s.AMOUNT,
    ttlSeconds: s.TTL_SECONDS,
  };
  const bytes = signedBytes([createEscrowInstruction(LOCAL_DEPLOYMENT, terms)], [agent], blockhash);
  const decoded = decodeWireTransaction(bytes);
  if ("malformed" in decoded) throw new Error(decoded.malformed);
  const { address, bump } = escrowAddress(LOCAL_DEPLOYMENT, agent.address, taskHash);
  const escrow: Escrow = numbered({
    address,
    bump,
    state: "Pending",
    agentOwner: agent.address,
    merchant: s.merchant.address,
    mint: s.mint,
    rentPayer: agent.address,
    taskHash,
    amount: s.AMOUNT,
    released: 0n,
    createdAt: s.START,
    expiresAt: s.START + BigInt(s.TTL_SECONDS),
    settledAt: null,
    attestor: s.attestor.address,
    attestation: null,
  });
  return {
    signature: decoded.value.signature,
    blockhash,
    base64: encodeBase64(bytes),
    bytes,
    feePayer: agent.address,
    escrow: accountOf(address, LOCAL_DEPLOYMENT.custodyProgram, encodeEscrowAccount(escrow)),
  };
};

/**
 * Jobs that are paid once each, with the attempts that their agents may sign in turn: each for an escrow of its own.
 */
export const JOBS: ReadonlyArray<ReadonlyArray<Attempt>> = [0, 1, 2].map((job) =>
  [0, 1, 2].map((attempt) => prepare(job, attempt, 16 * job + attempt + 1)),
);

/** A job whose attempts all create the same escrow, so that its agent may sign the next one at any time. */
export const SAME_ESCROW_JOB: ReadonlyArray<Attempt> = [0, 1, 2].map((attempt) =>
  prepare(5, attempt, 200),
);

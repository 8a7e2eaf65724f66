import type { Address } from "../../../../core/domain/address.ts";
import { encodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import { PROOF_TEMPLATES, proofHash } from "../../../../core/domain/evidence/proof-template.ts";
import { taskHash } from "../../../../core/domain/escrow/task-hash.ts";
import { escrowAddress } from "../../../../core/protocol/addresses/addresses.ts";
import { formatUnixTime } from "../../../../core/domain/unix-time.ts";
import { attestationMessage } from "../../../../core/protocol/instructions/attestation.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { CREATED_AT, MINT, NETWORK } from "../../../adapters/http/support/parties.ts";
import { attestedBy, claimOver, UNSIGNED } from "../../../doubles/attested.ts";
import { numbered } from "../../../arbitraries/escrow-numbers.ts";
import type { Wallet } from "../../../programs/fixture/wallet.ts";
import {
  AGENT,
  ATTESTOR,
  MERCHANT,
  OTHER_AGENT,
  OTHER_MINT,
  SUSPENDED,
  UNREGISTERED,
} from "./parties.ts";

const [template] = PROOF_TEMPLATES;
if (template === undefined) throw new Error("no proof template");

const TTL_SECONDS = 3600n;

/** How many events there are so far: their numbers follow the order of this file. */
let events = 0n;

const nextSeq = (): bigint => (events += 1n);

const pending = (
  task: string,
  age: bigint,
  other: {
    readonly agent?: Wallet;
    readonly merchant?: Address;
    readonly mint?: Address;
    readonly amount?: bigint;
  } = {},
): Escrow => {
  const { agent = AGENT, merchant = MERCHANT.wallet, mint = MINT, amount = 1_500_000n } = other;
  const hash = taskHash(task);
  const createdAt = CREATED_AT - age;
  return {
    ...numbered({
      ...escrowAddress(LOCAL_DEPLOYMENT, agent.address, hash),
      state: "Pending",
      agentOwner: agent.address,
      merchant,
      mint,
      rentPayer: agent.address,
      taskHash: hash,
      amount,
      released: 0n,
      createdAt,
      expiresAt: createdAt + TTL_SECONDS,
      settledAt: null,
      attestor: merchant === SUSPENDED.wallet ? SUSPENDED.attestor : ATTESTOR.address,
      attestation: null,
    }),
    createdSeq: nextSeq(),
  };
};

/** The delivery payload of an escrow: the first template's example with the escrow's task hash. */
export const payloadOf = (escrow: Escrow) => ({
  ...template.example,
  task_hash: escrow.taskHash as string,
});

/** A body of the release's prepare operation, with an attestation that is a minute old at the world's time. */
export const releaseBodyOf = (escrow: Escrow, amount?: bigint) => {
  const timestamp = CREATED_AT;
  const hash = proofHash(payloadOf(escrow));
  const total = amount ?? escrow.amount;
  const claim = claimOver(escrow, NETWORK, { proofHash: hash, timestamp, total });
  return {
    proof_hash: hash as string,
    timestamp: formatUnixTime(timestamp),
    ...(amount === undefined ? {} : { amount_stroops: amount.toString() }),
    attestation_signature: encodeBase64(ATTESTOR.sign(attestationMessage(claim))),
  };
};

/**
 * A Pending escrow after its release, 42 seconds after its creation: whole when `released` is its amount. It has the
 * next number.
 */
export const delivered = (escrow: Escrow, released: bigint): Escrow => {
  const attestedAt = escrow.createdAt + 40n;
  const isWhole = released === escrow.amount;
  const unsigned: Escrow = {
    ...escrow,
    state: isWhole ? "Fulfilled" : "PartiallyFulfilled",
    released,
    deliveries: 1,
    settledAt: escrow.createdAt + 42n,
    settledBy: "release",
    settledSeq: nextSeq(),
    attestation: { proofHash: proofHash(payloadOf(escrow)), attestedAt, signature: UNSIGNED },
  };
  return attestedBy(unsigned, NETWORK, ATTESTOR.sign);
};

/** A Pending escrow after its refund, five seconds after its expiry. It has the next number. */
export const refunded = (escrow: Escrow): Escrow => ({
  ...escrow,
  state: "Refunded",
  settledAt: escrow.expiresAt + 5n,
  settledBy: "refund",
  settledSeq: nextSeq(),
});

/** A Pending escrow with 59 minutes to go. */
export const PENDING = pending("GET https://api.example.com/v1/quotes?symbol=SOL", 0n);
/** A Pending escrow that expired half an hour ago. */
export const EXPIRED = pending("task expired", 5400n);
/** A fully released escrow. */
export const FULFILLED = delivered(pending("task fulfilled", 3600n), 1_500_000n);
/** A partially released escrow. */
export const PARTIAL = delivered(pending("task partial", 3000n), 400_000n);
/** A refunded escrow. */
export const REFUNDED = refunded(pending("task refunded", 10_800n));
/** A Pending escrow of the other agent with the largest amount, in an unsupported mint. */
export const LARGEST = pending("task largest", 20n, {
  agent: OTHER_AGENT,
  merchant: SUSPENDED.wallet,
  mint: OTHER_MINT,
  amount: 18_446_744_073_709_551_615n,
});
/** A released escrow whose merchant is not registered and whose transactions are not in the history. */
export const OBSCURE = delivered(
  pending("task obscure", 3500n, { merchant: UNREGISTERED }),
  1_500_000n,
);

/** The numbers of the creation and of the settlement of the ledger's archived escrow. */
export const ARCHIVED_SEQS = { created: nextSeq(), settled: nextSeq() } as const;

/** Every escrow on the ledger. */
export const ESCROWS: ReadonlyArray<Escrow> = [
  PENDING,
  EXPIRED,
  FULFILLED,
  PARTIAL,
  REFUNDED,
  LARGEST,
  OBSCURE,
];

/** The number of the next event on the ledger. */
export const NEXT_SEQ = events + 1n;

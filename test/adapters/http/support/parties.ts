import { numbered } from "../../../arbitraries/escrow-numbers.ts";
import { ed25519Key } from "../../../../adapters/signer/ed25519-key.ts";
import { sha256 } from "@noble/hashes/sha2.js";
import { address, addressFromBytes } from "../../../../core/domain/address.ts";
import type { Escrow, EscrowState } from "../../../../core/domain/escrow/escrow.ts";
import { hash32FromBytes } from "../../../../core/domain/hash32.ts";
import type { Merchant } from "../../../../core/domain/merchant/merchant.ts";
import { taskHash } from "../../../../core/domain/escrow/task-hash.ts";
import { escrowAddress, merchantAddress } from "../../../../core/protocol/addresses/addresses.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { attestedBy, UNSIGNED } from "../../../doubles/attested.ts";

const seed = (name: string): Uint8Array => sha256(new TextEncoder().encode(`test ${name}`));
const addressOf = (name: string) => addressFromBytes(ed25519Key(seed(name)).publicKey);

export const AGENT = addressOf("agent");
export const MERCHANT = addressOf("merchant");
export const STRANGER = addressOf("stranger");
export const MINT = addressOf("mint");
/** The payer of the relay tests' transactions. */
export const PAYER = addressFromBytes(ed25519Key(new Uint8Array(32).fill(9)).publicKey);
/** The merchant's attestor. */
export const ATTESTOR = addressOf("attestor");
/** The key under which the merchant's attestations verify. */
export const ATTESTOR_KEY = ed25519Key(seed("attestor"));

/** The genesis hash of the ledger behind every test service. */
export const GENESIS = address("4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY");

/** That ledger with its programs. */
export const NETWORK = { ...LOCAL_DEPLOYMENT, genesisHash: GENESIS };

/** The second in which the test escrows are created: 2026-03-01T12:00:00Z. */
export const CREATED_AT = 1_772_366_400n;
export const EXPIRES_AT = CREATED_AT + 3600n;

/** The registered merchant of the tests. */
export const merchant = (wallet = MERCHANT, name = "Test Quotes"): Merchant => ({
  ...merchantAddress(LOCAL_DEPLOYMENT, wallet),
  wallet,
  name,
  status: "Active",
  attestor: ATTESTOR,
  previousAttestor: null,
  attestorSince: CREATED_AT - 1000n,
  registeredAt: CREATED_AT - 1000n,
  updatedAt: CREATED_AT,
  reputation: 3,
  slashes: 0,
  deliveries: 3n,
  partialDeliveries: 0n,
  volume: 4_500_000n,
  revokedSeq: 0n,
});

/** An escrow of the agent for a task, in a state; `age` seconds older than CREATED_AT. */
export const escrow = (task: string, state: EscrowState = "Pending", age = 0n): Escrow => {
  const task_hash = taskHash(task);
  const derived = escrowAddress(LOCAL_DEPLOYMENT, AGENT, task_hash);
  const amount = 1_500_000n;
  const released = { Pending: 0n, Refunded: 0n, Fulfilled: amount, PartiallyFulfilled: 1n }[state];
  const paid = released > 0n;
  const [createdAt, expiresAt] = [CREATED_AT - age, EXPIRES_AT - age];
  const proofHash = hash32FromBytes(seed(`proof of ${task}`));
  const unsigned = numbered({
    ...derived,
    state,
    agentOwner: AGENT,
    merchant: MERCHANT,
    mint: MINT,
    rentPayer: AGENT,
    taskHash: task_hash,
    amount,
    released,
    createdAt,
    expiresAt,
    settledAt: state === "Pending" ? null : paid ? createdAt + 9n : expiresAt,
    attestor: ATTESTOR,
    attestation: paid ? { proofHash, attestedAt: createdAt + 7n, signature: UNSIGNED } : null,
  });
  return attestedBy(unsigned, NETWORK, ed25519Key(seed("attestor")).sign);
};

/** A valid body of `POST /v1/escrows/prepare`. */
export const prepareBody = () => ({
  agent_owner: AGENT as string,
  merchant: MERCHANT as string,
  mint: MINT as string,
  amount_stroops: "1500000",
  ttl_seconds: 3600,
  task_intent: "GET https://api.example.com/v1/quotes",
  nonce: "1",
});

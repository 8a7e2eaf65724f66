import { ed25519 } from "@noble/curves/ed25519.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { addressFromBytes } from "../../../core/domain/address.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
import type { Merchant } from "../../../core/domain/merchant/merchant.ts";
import { PROOF_TEMPLATES, proofHash } from "../../../core/domain/evidence/proof-template.ts";
import { taskHash } from "../../../core/domain/escrow/task-hash.ts";
import {
  associatedToken,
  escrowAddress,
  merchantAddress,
} from "../../../core/protocol/addresses/addresses.ts";
import { attestedMessage } from "../../../core/protocol/instructions/attestation.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { once } from "../server/once.ts";

const seed = (name: string): Uint8Array => sha256(new TextEncoder().encode(`example ${name}`));
const key = (name: string) => ({
  secret: seed(name),
  publicKey: ed25519.getPublicKey(seed(name)),
});

/** The parties and values of the documentation's examples. Their keys derive from published words. */
export const SAMPLE = {
  deployment: LOCAL_DEPLOYMENT,
  intent: "GET https://api.example.com/v1/quotes?symbol=SOL",
  nonce: "2026-03-01-0001",
  ttlSeconds: 3600,
  amount: 1_500_000n,
  /** 2026-03-01T12:00:00Z */
  createdAt: 1_772_366_400n,
  slot: 1042n,
  genesisHash: addressFromBytes(seed("genesis")),
} as const;

/** The secret of the sample's agent, which derives from published words and holds nothing. */
export const sampleAgentSecret = (): Uint8Array => key("agent").secret;

/** Signs as the sample's attestor or as the key of its session. */
export const signAs = (who: "attestor" | "session", message: Uint8Array): Uint8Array =>
  ed25519.sign(message, key(who).secret);

/** The sample's wallets, mint and keys. */
export const sampleParties = once(() => ({
  agent: addressFromBytes(key("agent").publicKey),
  merchant: addressFromBytes(key("merchant").publicKey),
  attestor: addressFromBytes(key("attestor").publicKey),
  mint: addressFromBytes(key("mint").publicKey),
  session: addressFromBytes(key("session").publicKey),
  evidenceKey: key("evidence key"),
}));

/** An escrow that was released seven seconds after a delivery, with a true attestation. */
export const sampleEscrow = once((): Escrow => {
  const { agent, merchant, attestor, mint } = sampleParties();
  const { deployment, createdAt, amount } = SAMPLE;
  const task = taskHash(SAMPLE.intent, SAMPLE.nonce);
  const { address, bump } = escrowAddress(deployment, agent, task);
  const proof = proofHash({ ...PROOF_TEMPLATES[0]?.example, task_hash: task });
  const attestedAt = createdAt + 7n;
  const unsigned: Escrow = {
    address,
    bump,
    vaultBump: associatedToken(address, mint).bump,
    state: "Fulfilled",
    agentOwner: agent,
    merchant,
    mint,
    rentPayer: agent,
    taskHash: task,
    sessionKey: null,
    amount,
    released: amount,
    deliveries: 1,
    createdAt,
    expiresAt: createdAt + BigInt(SAMPLE.ttlSeconds),
    closesAt: null,
    settledAt: createdAt + 9n,
    settledBy: "release",
    attestor,
    attestation: { proofHash: proof, attestedAt, signature: encodeBase64(new Uint8Array(64)) },
    createdSeq: 41n,
    settledSeq: 42n,
  };
  const message = attestedMessage(unsigned, { ...deployment, genesisHash: SAMPLE.genesisHash });
  const signature = encodeBase64(signAs("attestor", message ?? new Uint8Array()));
  return { ...unsigned, attestation: { proofHash: proof, attestedAt, signature } };
});

/** The merchant that delivered. */
export const sampleMerchant = (): Merchant => {
  const { merchant, attestor } = sampleParties();
  const { address, bump } = merchantAddress(SAMPLE.deployment, merchant);
  const registeredAt = SAMPLE.createdAt - 2_600_000n;
  return {
    address,
    bump,
    wallet: merchant,
    name: "Example Quotes",
    status: "Active",
    attestor,
    previousAttestor: null,
    attestorSince: registeredAt,
    registeredAt,
    updatedAt: SAMPLE.createdAt + 9n,
    reputation: 12,
    slashes: 0,
    deliveries: 12n,
    partialDeliveries: 1n,
    volume: 18_500_000n,
    revokedSeq: 0n,
  };
};

import { address, addressFromBytes } from "../../../../core/domain/address.ts";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import { taskHash } from "../../../../core/domain/escrow/task-hash.ts";
import type { UnixSeconds } from "../../../../core/domain/unix-time.ts";
import { PROOF_TEMPLATES, proofHash } from "../../../../core/domain/evidence/proof-template.ts";
import { escrowAddress } from "../../../../core/protocol/addresses/addresses.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { numbered } from "../../../arbitraries/escrow-numbers.ts";
import { ATTESTOR_KEY, attested, ed25519Key } from "../../../arbitraries/evidence.ts";
import { SUPPORTED_MINT } from "../test-instance.ts";

/** 2026-09-01T12:00:00Z */
const CREATED_AT = 1_788_264_000n;

const AGENT = address("4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T");
/** The wallet of the golden escrows' merchant. */
export const GOLDEN_MERCHANT = address("7cVfgArCheMR6Cs4t6vz5rfnqd56vZq4ndaBrY5xkxXy");

const pending = (nonce: string): Escrow => {
  const hash = taskHash("GET https://api.example.com/v1/quotes?symbol=SOL", nonce);
  const { address, bump } = escrowAddress(LOCAL_DEPLOYMENT, AGENT, hash);
  return numbered({
    address,
    bump,
    state: "Pending",
    agentOwner: AGENT,
    merchant: GOLDEN_MERCHANT,
    mint: SUPPORTED_MINT,
    rentPayer: AGENT,
    taskHash: hash,
    amount: 2_500_000n,
    released: 0n,
    createdAt: CREATED_AT,
    expiresAt: CREATED_AT + 3600n,
    settledAt: null,
    attestor: addressFromBytes(ATTESTOR_KEY.publicKey),
    attestation: null,
  });
};

const delivered = (escrow: Escrow, state: Escrow["state"], released: bigint): Escrow => {
  const [template] = PROOF_TEMPLATES;
  if (template === undefined) throw new Error("no proof template");
  return attested({
    ...escrow,
    state,
    released,
    deliveries: 1,
    settledAt: CREATED_AT + 95n,
    settledBy: "release",
    settledSeq: escrow.createdSeq + 1n,
    attestation: {
      proofHash: proofHash({ ...template.example, task_hash: escrow.taskHash }),
      // `attested` sets it.
      signature: "",
      attestedAt: CREATED_AT + 90n,
    },
  });
};

const SESSION_KEY = ed25519Key(5);

/** A session of which a part was captured for three deliveries, signed as what its last step needs. */
const sessionOf = (nonce: string, changes: Partial<Escrow> = {}): Escrow => {
  const created = pending(nonce);
  const [template] = PROOF_TEMPLATES;
  if (template === undefined) throw new Error("no proof template");
  return attested({
    ...created,
    sessionKey: addressFromBytes(SESSION_KEY.publicKey),
    released: 750_000n,
    deliveries: 3,
    attestation: {
      proofHash: proofHash({ ...template.example, task_hash: created.taskHash }),
      // `attested` sets it.
      signature: "",
      attestedAt: CREATED_AT + 300n,
    },
    ...changes,
  });
};

/** One escrow for each decision, named like its file in test/vectors/evidence, and the ledger's time when read. */
export const GOLDEN_ESCROWS: ReadonlyArray<{
  readonly name: string;
  readonly escrow: Escrow;
  readonly ledgerTime: UnixSeconds;
}> = [
  { name: "pending", escrow: pending("order-1"), ledgerTime: CREATED_AT + 60n },
  { name: "pending-expired", escrow: pending("order-2"), ledgerTime: CREATED_AT + 3600n },
  {
    name: "fulfilled",
    escrow: delivered(pending("order-3"), "Fulfilled", 2_500_000n),
    ledgerTime: CREATED_AT + 120n,
  },
  {
    name: "partially-fulfilled",
    escrow: delivered(pending("order-4"), "PartiallyFulfilled", 1_000_001n),
    ledgerTime: CREATED_AT + 120n,
  },
  {
    name: "refunded",
    escrow: {
      ...pending("order-5"),
      state: "Refunded",
      settledAt: CREATED_AT + 4000n,
      settledBy: "refund",
      settledSeq: 2n,
    },
    ledgerTime: CREATED_AT + 5000n,
  },
  {
    name: "cancelled",
    escrow: {
      ...pending("order-6"),
      state: "Refunded",
      settledAt: CREATED_AT + 400n,
      settledBy: "cancel",
      settledSeq: 2n,
    },
    ledgerTime: CREATED_AT + 5000n,
  },
  { name: "session-open", escrow: sessionOf("order-7"), ledgerTime: CREATED_AT + 600n },
  {
    name: "session-released",
    escrow: sessionOf("order-8", {
      state: "PartiallyFulfilled",
      settledAt: CREATED_AT + 310n,
      settledBy: "release",
      settledSeq: 2n,
    }),
    ledgerTime: CREATED_AT + 5000n,
  },
  {
    name: "session-cancelled",
    escrow: sessionOf("order-9", {
      state: "PartiallyFulfilled",
      settledAt: CREATED_AT + 400n,
      settledBy: "cancel",
      settledSeq: 2n,
    }),
    ledgerTime: CREATED_AT + 5000n,
  },
  {
    name: "session-closed",
    escrow: sessionOf("order-10", {
      state: "Refunded",
      released: 0n,
      deliveries: 0,
      attestation: null,
      closesAt: CREATED_AT + 1000n,
      settledAt: CREATED_AT + 1001n,
      settledBy: "refund",
      settledSeq: 2n,
    }),
    ledgerTime: CREATED_AT + 5000n,
  },
];

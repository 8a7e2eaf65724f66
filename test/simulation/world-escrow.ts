import { type Address, addressFromBytes } from "../../core/domain/address.ts";
import { ESCROW_STATES, type Escrow } from "../../core/domain/escrow/escrow.ts";
import { hash32FromBytes } from "../../core/domain/hash32.ts";
import { RecentlyUsed } from "../../core/domain/recently-used.ts";
import type { Merchant } from "../../core/domain/merchant/merchant.ts";
import { escrowAddress, merchantAddress } from "../../core/protocol/addresses/addresses.ts";
import { numbered } from "../arbitraries/escrow-numbers.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";

/** 32 bytes that depend on the label only. */
export const labelled = (label: string): Uint8Array => {
  const bytes = new Uint8Array(32);
  Bun.SHA256.hash(label, bytes);
  return bytes;
};

/**
 * Ten million escrows have half a million agents; keeping them all would take more memory than what is measured with
 * them.
 */
const wallets = new RecentlyUsed<string, Address>(20_000);

/** The wallet of a label. */
export const walletOf = (label: string): Address => {
  const known = wallets.get(label);
  if (known !== undefined) return known;
  const made = addressFromBytes(labelled(label));
  wallets.set(label, made);
  return made;
};

/** Wallets that share the escrows of a world. */
const MERCHANTS = 50;
const ESCROWS_PER_AGENT = 20;
const FIRST_CREATED_AT = 1_700_000_000;
const TTL_SECONDS = 3600;

/** The mint of every escrow in a world. */
export const WORLD_MINT = walletOf("mint");

/** A time at which all escrows of a world of fewer than 100 million have expired. */
export const WORLD_TIME = BigInt(FIRST_CREATED_AT + 200_000_000);

/**
 * The `number`th escrow of a world, always the same. Each is created a second after the one before. A quarter of them
 * are in each state. Each agent has twenty, and fifty merchants share them.
 */
export const worldEscrow = (number: number): Escrow => {
  const agentOwner = walletOf(`agent ${Math.floor(number / ESCROWS_PER_AGENT)}`);
  const taskHash = hash32FromBytes(labelled(`task ${number}`));
  const state = ESCROW_STATES[number % 4] ?? "Pending";
  const merchant = walletOf(`merchant ${Math.floor(number / 4) % MERCHANTS}`);
  const createdAt = BigInt(FIRST_CREATED_AT + number);
  const amount = BigInt(1_000_000 + number);
  const isPaid = state === "Fulfilled" || state === "PartiallyFulfilled";
  const released = state === "Fulfilled" ? amount : state === "PartiallyFulfilled" ? 1000n : 0n;
  const settledAt = createdAt + BigInt(isPaid ? 60 : TTL_SECONDS + 60);
  return numbered(
    {
      ...escrowAddress(LOCAL_DEPLOYMENT, agentOwner, taskHash),
      state,
      agentOwner,
      merchant,
      mint: WORLD_MINT,
      rentPayer: agentOwner,
      taskHash,
      amount,
      released,
      createdAt,
      expiresAt: createdAt + BigInt(TTL_SECONDS),
      settledAt: state === "Pending" ? null : settledAt,
      attestor: walletOf(`attestor of ${merchant}`),
      attestation: isPaid
        ? {
            proofHash: hash32FromBytes(labelled(`proof ${number}`)),
            attestedAt: createdAt + 50n,
            signature: Buffer.concat([labelled(`r ${number}`), labelled(`s ${number}`)]).toString(
              "base64",
            ),
          }
        : null,
    },
    number,
  );
};

/** A settled escrow as it was before its settlement. */
export const pendingOf = (escrow: Escrow): Escrow => ({
  ...escrow,
  state: "Pending",
  released: 0n,
  deliveries: 0,
  settledAt: null,
  settledBy: null,
  settledSeq: null,
  closesAt: null,
  attestation: null,
});

/** A Pending escrow after a refund a minute after its expiry. */
export const refundedOf = (escrow: Escrow): Escrow => ({
  ...escrow,
  state: "Refunded",
  settledAt: escrow.expiresAt + 60n,
  settledBy: "refund",
  settledSeq: escrow.createdSeq + 1n,
});

/** The `number`th merchant of a world, from 0 to 49. */
export const worldMerchant = (number: number): Merchant => {
  const wallet = walletOf(`merchant ${number}`);
  return {
    ...merchantAddress(LOCAL_DEPLOYMENT, wallet),
    wallet,
    name: `Merchant ${number}`,
    status: number % 7 === 6 ? "Suspended" : "Active",
    attestor: walletOf(`attestor of ${wallet}`),
    previousAttestor: null,
    attestorSince: BigInt(FIRST_CREATED_AT - 1000),
    registeredAt: BigInt(FIRST_CREATED_AT - 1000),
    updatedAt: BigInt(FIRST_CREATED_AT),
    reputation: number,
    slashes: 0,
    deliveries: BigInt(number),
    partialDeliveries: 0n,
    volume: BigInt(number) * 1_000_000n,
    revokedSeq: 0n,
  };
};

/** Every merchant of a world. */
export const worldMerchants = (): ReadonlyArray<Merchant> =>
  Array.from({ length: MERCHANTS }, (_, number) => worldMerchant(number));

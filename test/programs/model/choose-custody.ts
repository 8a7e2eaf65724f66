import { type Address, ZERO_ADDRESS } from "../../../core/domain/address.ts";
import { escrowBytes, type Escrow, termsOf } from "./account.ts";
import { claimOn } from "./attestation.ts";
import type { Attesting, Call, Sent } from "./call.ts";
import { attesting, callOf, createCall, refundCall, releaseCall, type Target } from "./calls.ts";
import { ATTESTORS, ESCROWS, fallbackOf, MERCHANTS, MINTS, PAYERS, PROOFS } from "./cast.ts";
import type { Choices } from "./choice.ts";
import { escrowsOf, chosenMerchant } from "./found.ts";
import { accountAt, associatedOf, merchantOf, type World } from "./world.ts";

const WEEK = 604_800n;

/** An escrow for an instruction: mostly one that allows it. */
const chosenEscrow = (
  world: World,
  choices: Choices,
  suits: (escrow: Escrow) => boolean,
): { readonly target: Target; readonly escrow: Escrow | undefined } => {
  const all = escrowsOf(world);
  const suiting = all.filter(({ escrow }) => suits(escrow));
  const pending = all.filter(({ escrow }) => escrow.state === 0);
  const pools = [suiting, suiting, suiting, suiting, suiting, suiting, suiting, pending, all];
  const pool = [choices.of(pools), all].find((each) => each.length > 0) ?? [];
  const found = pool.length > 0 && !choices.seldom(1) ? choices.of(pool) : undefined;
  const fallbacks = (agent: Address, merchant: Address, mint: Address) => {
    const isPaid = [agent, merchant].every((wallet) => {
      const { content } = accountAt(world, associatedOf(wallet, mint).address);
      return content.kind !== "token" || (content.holder === wallet && !content.frozen);
    });
    const which = choices.mostly(isPaid ? [0, 1, 2] : [1, 0, 2], 11);
    if (which === 0) return {};
    const other = which === 1 ? { a: agent, m: merchant } : { a: merchant, m: agent };
    return {
      agentFallback: fallbackOf(other.a, mint),
      merchantFallback: fallbackOf(other.m, mint),
    };
  };
  if (found === undefined) {
    const { address, agent } = choices.of(ESCROWS);
    const terms = { agent, merchant: MERCHANTS[0], mint: MINTS[0], rentPayer: PAYERS[0] };
    return { target: { escrow: address, ...terms }, escrow: undefined };
  }
  const { address, escrow } = found;
  const { agentOwner: agent, merchant, mint, rentPayer } = escrow;
  const target = { escrow: address, agent, merchant, mint, rentPayer };
  return { target: { ...target, ...fallbacks(agent, merchant, mint) }, escrow };
};

/** `create_escrow` by some agent for some merchant. */
export const create = (world: World, choices: Choices): Call => {
  const free = ESCROWS.filter(({ address }) => accountAt(world, address).content.kind === "wallet");
  const place = free.length > 0 && !choices.seldom(2) ? choices.of(free) : choices.of(ESCROWS);
  const merchant = chosenMerchant(world, choices);
  const { content } = accountAt(world, merchantOf(merchant).address);
  const present = content.kind === "merchant" ? content.attestor : ATTESTORS[0].address;
  return createCall({
    payer: choices.mostly(PAYERS),
    agent: place.agent,
    task: place.task,
    merchant,
    mint: choices.mostly(MINTS),
    amount: choices.mostly([5_000_000n, 1n, 2n, 0n, 1_000_000_001n, 2n ** 64n - 1n], 13),
    ttlSeconds: choices.mostly([3600, 1, 300, 301, 604_800, 0, 604_801, 30], 6),
    attestor: choices.mostly([ZERO_ADDRESS, present, ATTESTORS[1]?.address ?? ZERO_ADDRESS], 8),
  });
};

/** A full or partial release with its attestation, mostly a valid one. */
export const release = (world: World, choices: Choices, isPartial: boolean): Sent => {
  const { target, escrow } = chosenEscrow(
    world,
    choices,
    ({ state, expiresAt }) => state === 0 && world.time < expiresAt,
  );
  const now = world.time;
  const [created, expires] = [escrow?.createdAt ?? now, escrow?.expiresAt ?? now + 1n];
  const timestamp = choices.mostly(
    [
      now < expires ? now : expires - 1n,
      now - 300n,
      now - 301n,
      now + 30n,
      now + 31n,
      created,
      created - 1n,
      expires - 1n,
      expires,
    ],
    8,
  );
  const whole = escrow?.amount ?? 5n;
  const part = choices.mostly([whole / 2n, 1n, whole - 1n, whole, 0n, whole + 1n], 10);
  const proofHash = choices.mostly(PROOFS, 14);
  const call = releaseCall(target, { proofHash, timestamp, ...(isPartial && { amount: part }) });
  const right = ATTESTORS.find(({ address }) => address === escrow?.attestor) ?? ATTESTORS[0];
  const claim = claimOn(world, target.escrow, {
    proofHash: PROOFS[0],
    timestamp,
    ...(isPartial && { total: part }),
  });
  const others = escrowsOf(world).filter(({ address }) => address !== target.escrow);
  const other = others.length > 0 ? termsOf(choices.of(others).escrow) : PROOFS[0];
  const attest = (form?: Parameters<typeof attesting>[2]): Attesting => {
    const by = choices.mostly([right, ...ATTESTORS], 14);
    return attesting(by, claim, form);
  };
  switch (choices.mostly([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], 12)) {
    case 1:
      return [call];
    case 2:
      return [call, attest()];
    case 3:
      return [attesting(right, { ...claim, total: claim.total ^ 1n }), attest(), call];
    case 4:
      return [attest(), attesting(right, { ...claim, timestamp: timestamp + 1n }), call];
    case 5:
      return [attest("two"), call];
    case 6:
      return [attest("none"), call];
    case 7:
      return [attest("elsewhere"), call];
    case 8:
      return [attest("forged"), call];
    case 9:
      return [attesting(right, { ...claim, terms: other }), call];
    case 10:
      return [attesting(right, { ...claim, domain: PROOFS[0] }), call];
    case 11:
      return [attesting(right, { ...claim, terms: other }), attest("two"), attest(), call];
    case 12:
      return [attesting(right, { ...claim, total: claim.total ^ 1n }), call];
    default:
      return [attest(), call];
  }
};

/** A claim of the refund, or a cancellation. */
export const refund = (world: World, choices: Choices, cancels: boolean): Call => {
  const { target } = chosenEscrow(
    world,
    choices,
    ({ state, expiresAt }) => state === 0 && cancels === world.time < expiresAt,
  );
  return refundCall(cancels ? "cancel_escrow" : "claim_refund", target);
};

/** `archive_escrow`, mostly with the right bytes. */
export const archive = (world: World, choices: Choices): Call => {
  const { target, escrow } = chosenEscrow(
    world,
    choices,
    ({ state, settledAt }) => state !== 0 && world.time >= settledAt + WEEK,
  );
  const bytes = escrow === undefined ? new Uint8Array(368) : escrowBytes(escrow);
  const at = choices.mostly([-1, 0, 10, 216, 367], 13);
  const lastBytes = at < 0 ? bytes : bytes.with(at, (bytes[at] ?? 0) ^ 1);
  return callOf(
    "archive_escrow",
    { escrow: target.escrow, rent_payer: target.rentPayer },
    { lastBytes },
  );
};

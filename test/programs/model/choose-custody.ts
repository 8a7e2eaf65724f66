import { type Address, ZERO_ADDRESS } from "../../../core/domain/address.ts";
import type { Wallet } from "../fixture/wallet.ts";
import {
  createdOf,
  endOf,
  type Escrow,
  ESCROW_BYTES,
  escrowBytes,
  isSession,
  termsOf,
} from "./account.ts";
import { type Claim, claimOn, LAST, type Voucher, voucherFor } from "./attestation.ts";
import type { Attesting, Call, Sent } from "./call.ts";
import {
  type Allowing,
  attesting,
  callOf,
  cancelCall,
  closeCall,
  createCall,
  type Form,
  limit,
  paymentCall,
  refundCall,
  rentCall,
  type Target,
} from "./calls.ts";
import {
  AGENTS,
  ATTESTORS,
  ESCROWS,
  fallbackOf,
  MERCHANTS,
  MINTS,
  PAYERS,
  PROOFS,
  SESSION_KEYS,
} from "./cast.ts";
import type { Choices } from "./choice.ts";
import { chosenMerchant, escrowsOf, tombstonesOf } from "./found.ts";
import { lastBytesOf } from "./remembered.ts";
import { accountAt, associatedOf, merchantOf, type World } from "./world.ts";

const WEEK = 604_800n;

type Chosen = { readonly target: Target; readonly escrow: Escrow | undefined };

const fallbacks = (world: World, choices: Choices, { agentOwner, merchant, mint }: Escrow) => {
  const isPaid = [agentOwner, merchant].every((holder) => {
    const { content } = accountAt(world, associatedOf(holder, mint).address);
    return content.kind === "token" && content.holder === holder && !content.frozen;
  });
  const which = choices.mostly(isPaid ? [0, 1, 2] : [1, 0, 2], 11);
  if (which === 0) return {};
  const other = which === 1 ? { a: agentOwner, m: merchant } : { a: merchant, m: agentOwner };
  return { agentFallback: fallbackOf(other.a, mint), merchantFallback: fallbackOf(other.m, mint) };
};

/** An escrow for an instruction: mostly one that allows it. */
const chosenEscrow = (
  world: World,
  choices: Choices,
  suits: (escrow: Escrow) => boolean,
): Chosen => {
  const all = escrowsOf(world);
  const suiting = all.filter(({ escrow }) => suits(escrow));
  const pending = all.filter(({ escrow }) => escrow.state === 0);
  const pools = [suiting, suiting, suiting, suiting, suiting, suiting, suiting, pending, all];
  const pool = [choices.of(pools), all].find((each) => each.length > 0) ?? [];
  const found = pool.length > 0 && !choices.seldom(1) ? choices.of(pool) : undefined;
  if (found === undefined) {
    const { address, agent } = choices.of(ESCROWS);
    const terms = { agent, merchant: MERCHANTS[0], mint: MINTS[0], rentPayer: PAYERS[0] };
    return { target: { escrow: address, ...terms }, escrow: undefined };
  }
  const { address, escrow } = found;
  const { agentOwner: agent, merchant, mint, rentPayer } = escrow;
  const target = { escrow: address, agent, merchant, mint, rentPayer };
  return { target: { ...target, ...fallbacks(world, choices, escrow) }, escrow };
};

/** `create_escrow` by some agent for some merchant. */
export const create = (world: World, choices: Choices): Call => {
  const free = ESCROWS.filter(({ address }) => accountAt(world, address).content.kind === "wallet");
  const place = free.length > 0 && !choices.seldom(2) ? choices.of(free) : choices.of(ESCROWS);
  const merchant = chosenMerchant(world, choices);
  const { content } = accountAt(world, merchantOf(merchant).address);
  const present = content.kind === "merchant" ? content.attestor : ATTESTORS[0].address;
  const now = world.time;
  const times = choices.mostly(
    [
      { ttlSeconds: choices.mostly([3600, 1, 300, 301, 604_800, 0, 604_801, 30], 6) },
      { expiresAt: now + choices.mostly([3600n, 1n, 0n, WEEK, WEEK + 1n, -1n], 8) },
      { ttlSeconds: 60, expiresAt: now + 60n },
      { expiresAt: choices.of([-1n, 2n ** 63n - 1n, -(2n ** 63n)]) },
    ],
    8,
  );
  const keys = SESSION_KEYS.map(({ address }) => address);
  return createCall({
    payer: choices.mostly(PAYERS),
    agent: place.agent,
    task: place.task,
    merchant,
    mint: choices.mostly(MINTS),
    amount: choices.mostly([5_000_000n, 1n, 2n, 0n, 1_000_000_001n, 2n ** 64n - 1n], 13),
    attestor: choices.mostly([ZERO_ADDRESS, present, ATTESTORS[1]?.address ?? ZERO_ADDRESS], 8),
    sessionKey: choices.of([ZERO_ADDRESS, ...keys]),
    ...times,
  });
};

type By = keyof typeof LAST;

/** The key that an address belongs to. */
const keyOf = (pool: readonly [Wallet, ...ReadonlyArray<Wallet>], address: Address | undefined) =>
  pool.find((each) => each.address === address) ?? pool[0];

const timestampFor = (world: World, choices: Choices, escrow: Escrow | undefined): bigint => {
  const now = world.time;
  const [created, end] = [
    escrow?.createdAt ?? now,
    escrow === undefined ? now + 1n : endOf(escrow),
  ];
  const live = now < end ? now : end - 1n;
  const edges = [now - 300n, now - 301n, now + 30n, now + 31n, created, created - 1n];
  return choices.mostly([live, ...edges, end - 1n, end], 10);
};

/** What is attested of an escrow, mostly rightly. */
const claimFor = (world: World, choices: Choices, { target, escrow }: Chosen, by: By): Claim => {
  const [amount, released] = [escrow?.amount ?? 5n, escrow?.released ?? 0n];
  const step = amount / 5n > 0n ? amount / 5n : 1n;
  const [next, before] = [released + step, released > 0n ? released - 1n : 0n];
  const within = next < amount ? next : amount;
  const totals = [by === "release" ? amount : within, within, amount, released, amount / 2n];
  const session = escrow !== undefined && isSession(escrow);
  const counted = (escrow?.deliveries ?? 0) + 1;
  const bad = [amount + 1n, before, 0n, amount - 1n, 1n];
  return claimOn(world, target.escrow, {
    proofHash: choices.mostly(PROOFS, 14),
    timestamp: timestampFor(world, choices, escrow),
    total: choices.seldom(3) ? choices.of(bad) : choices.mostly(totals, 10),
    deliveries: session
      ? choices.mostly([counted, counted + 6, counted - 1, 2 ** 32 - 1, 0], 13)
      : choices.mostly([1, 0, 2], 15),
    final: choices.mostly([LAST[by], 1 - LAST[by], 256 + LAST[by], 2], 15),
  });
};

/** What the session key allows, mostly enough; undefined for a single payment. */
const allowed = (choices: Choices, { escrow }: Chosen, claim: Claim): Allowing | undefined => {
  const session = escrow !== undefined && isSession(escrow);
  if (session === choices.seldom(1)) return undefined;
  const { total, deliveries } = claim;
  const others: ReadonlyArray<Partial<Voucher>> = [
    { total: total + 1n, count: deliveries },
    { total, count: (deliveries + 1) % 2 ** 32 },
    { total: total > 0n ? total - 1n : 0n },
    { count: deliveries > 0 ? deliveries - 1 : 0 },
    { closing: 1 - (claim.final & 1) },
    { closing: 257 },
    { closing: 2 },
    { terms: PROOFS[0] },
    { domain: PROOFS[0] },
  ];
  const voucher = voucherFor({ ...claim, final: claim.final & 1 }, choices.mostly([{}, ...others]));
  const right = keyOf(SESSION_KEYS, escrow?.sessionKey);
  return { by: choices.mostly([right, ...SESSION_KEYS, ATTESTORS[0]], 14), voucher };
};

/** A payment to the merchant with its signatures, mostly a valid one. */
const payment = (world: World, choices: Choices, chosen: Chosen, by: By): Sent => {
  const { target, escrow } = chosen;
  const call = paymentCall(by === "capture" ? "capture" : "release_escrow", target);
  const right = keyOf(ATTESTORS, escrow?.attestor);
  const claim = claimFor(world, choices, chosen, by);
  const allowing = allowed(choices, chosen, claim);
  const others = escrowsOf(world).filter(({ address }) => address !== target.escrow);
  const other = others.length > 0 ? termsOf(choices.of(others).escrow) : PROOFS[0];
  const attest = (form?: Form, change: Partial<Claim> = {}): Attesting => {
    const key = form === undefined ? choices.mostly([right, ...ATTESTORS], 14) : right;
    return attesting(key, { ...claim, ...change }, allowing, form);
  };
  switch (choices.mostly([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14], 12)) {
    case 1:
      return [call];
    case 2:
      return [call, attest()];
    case 3:
      return [attest("right", { total: claim.total ^ 1n }), attest(), call];
    case 4:
      return [attest(), attest("right", { timestamp: claim.timestamp + 1n }), call];
    case 5:
      return [attest("twice"), call];
    case 6:
      return [attest("none"), call];
    case 7:
      return [attest("elsewhere"), call];
    case 8:
      return [attest("forged"), call];
    case 9:
      return [attest("right", { terms: other }), call];
    case 10:
      return [attest("right", { domain: PROOFS[0] }), call];
    case 11:
      return [attest("right", { terms: other }), attest("twice"), attest(), call];
    case 12:
      return [attest("exchanged"), call];
    case 13:
      return [attest("padded"), call];
    case 14:
      // The attestation alone, beside an instruction of the right form that names another escrow.
      return [attesting(right, claim), attest("right", { terms: other }), call];
    default:
      return choices.seldom(3) ? [limit("units", 150_000), attest(), call] : [attest(), call];
  }
};

const isLive = (world: World, escrow: Escrow) => escrow.state === 0 && world.time < endOf(escrow);

/** A release with its attestation. */
export const release = (world: World, choices: Choices): Sent =>
  payment(
    world,
    choices,
    chosenEscrow(world, choices, (each) => isLive(world, each)),
    "release",
  );

/** A capture with its attestation and voucher. */
export const capture = (world: World, choices: Choices): Sent => {
  const suits = (each: Escrow) =>
    isLive(world, each) && isSession(each) && each.released < each.amount;
  return payment(world, choices, chosenEscrow(world, choices, suits), "capture");
};

/** The last bytes of an archived escrow, mostly, with the facts that they hold. */
const archived = (
  world: World,
  choices: Choices,
): (Chosen & { readonly bytes: Uint8Array }) | undefined => {
  const all = tombstonesOf(world).flatMap(({ address, tombstone }) => {
    const last = lastBytesOf(tombstone);
    return last === undefined ? [] : [{ address, last }];
  });
  if (all.length === 0 || !choices.seldom(6)) return undefined;
  const { address, last } = choices.of(all);
  const { agentOwner: agent, merchant, mint, rentPayer } = last;
  const target = { escrow: address, agent, merchant, mint, rentPayer };
  const right = escrowBytes(last);
  const others = [
    right,
    right.with(184, 1),
    right.slice(1),
    new Uint8Array(),
    escrowBytes(createdOf(last)),
  ];
  return { target, escrow: last, bytes: choices.mostly(others, 12) };
};

/** `claim_refund` of an expired, settled or archived escrow. */
export const refund = (world: World, choices: Choices): Call => {
  const old = archived(world, choices);
  const suits = ({ state, mint }: Escrow, address: Address) =>
    state !== 0 && accountAt(world, associatedOf(address, mint).address).content.kind === "token";
  const open = new Set(
    escrowsOf(world).flatMap(({ address, escrow }) => (suits(escrow, address) ? [escrow] : [])),
  );
  const chosen =
    old ??
    chosenEscrow(
      world,
      choices,
      (each) => open.has(each) || (each.state === 0 && world.time >= endOf(each)),
    );
  const { target } = chosen;
  const vault = accountAt(world, associatedOf(target.escrow, target.mint).address).content;
  const empty = vault.kind === "token" && vault.amount === 0n;
  const to = choices.mostly(empty ? [null, target] : [target, null], 13);
  const bytes = old?.bytes ?? (choices.seldom(1) ? new Uint8Array(ESCROW_BYTES) : undefined);
  return refundCall(target, bytes, to);
};

/** `return_rent` of a settled or archived escrow. */
export const returnRent = (world: World, choices: Choices): Call => {
  const old = archived(world, choices);
  const chosen = old ?? chosenEscrow(world, choices, ({ state }) => state !== 0);
  return rentCall(chosen.target, old?.bytes);
};

/** `cancel_escrow`, mostly by the merchant. */
export const cancel = (world: World, choices: Choices): Call => {
  const { target } = chosenEscrow(world, choices, (each) => isLive(world, each));
  return cancelCall(target.escrow, choices.mostly([target.merchant, target.agent], 14));
};

/** `close_session`, mostly by the agent. */
export const close = (world: World, choices: Choices): Call => {
  const suits = (each: Escrow) => isLive(world, each) && isSession(each) && each.closesAt === 0n;
  const { target } = chosenEscrow(world, choices, suits);
  return closeCall(target.escrow, choices.mostly([target.agent, target.merchant, ...AGENTS], 14));
};

/** `archive_escrow`, mostly with the right bytes. */
export const archive = (world: World, choices: Choices): Call => {
  const { target, escrow } = chosenEscrow(
    world,
    choices,
    ({ state, settledAt }) => state !== 0 && world.time >= settledAt + WEEK,
  );
  const bytes = escrow === undefined ? new Uint8Array(ESCROW_BYTES) : escrowBytes(escrow);
  const at = choices.mostly([-1, 0, 10, 216, 400, 415], 13);
  const lastBytes = at < 0 ? bytes : bytes.with(at, (bytes[at] ?? 0) ^ 1);
  return callOf(
    "archive_escrow",
    { escrow: target.escrow, rent_payer: target.rentPayer },
    { lastBytes },
  );
};

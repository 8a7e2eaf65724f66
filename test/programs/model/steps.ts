import { type Address, ZERO_ADDRESS } from "../../../core/domain/address.ts";
import {
  type Account,
  escrowBytes,
  type Escrow,
  programBytes,
  rent,
  type Token,
} from "./account.ts";
import type { Attesting, Call, Sent } from "./call.ts";
import { attesting, callOf, createCall, refundCall, releaseCall, type Target } from "./calls.ts";
import {
  ADMINS,
  AGENTS,
  ATTESTORS,
  ESCROWS,
  fallbackOf,
  FORGERY,
  MERCHANTS,
  MINTS,
  PAYERS,
  PROOFS,
  STRANGER,
  TOKEN_PLACES,
  VAULTS,
} from "./cast.ts";
import { Choices } from "./choice.ts";
import { deviating } from "./deviate.ts";
import {
  accountAt,
  associatedOf,
  ATTESTOR_DATA,
  changed,
  CONFIG,
  CUSTODY_DATA,
  merchantOf,
  REGISTRY,
  type World,
} from "./world.ts";

/** What happens next: a transaction, or what the ledger and others do around the programs. */
export type Step =
  | { readonly kind: "send"; readonly sent: Sent }
  | { readonly kind: "wait"; readonly until: bigint }
  | {
      readonly kind: "change";
      readonly what: string;
      readonly address: Address;
      readonly account: Account;
    };

const WEEK = 604_800n;

const escrowsOf = (world: World) =>
  ESCROWS.flatMap(({ address }) => {
    const { content } = accountAt(world, address);
    return content.kind === "escrow" ? [{ address, escrow: content }] : [];
  });

/** An escrow to act on: mostly one that the action suits. */
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

const merchantsOf = (world: World) =>
  MERCHANTS.filter(
    (each) => accountAt(world, merchantOf(each).address).content.kind === "merchant",
  );

const chosenMerchant = (world: World, choices: Choices): Address => {
  const registered = merchantsOf(world);
  return registered.length > 0 && !choices.seldom(1)
    ? choices.of(registered)
    : choices.of(MERCHANTS);
};

const create = (world: World, choices: Choices): Call => {
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

const release = (world: World, choices: Choices, isPartial: boolean): Sent => {
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
  const claim = {
    escrow: target.escrow,
    proofHash: PROOFS[0],
    timestamp,
    amount: isPartial ? part : 0n,
  };
  const attest = (form?: Parameters<typeof attesting>[2]): Attesting => {
    const by = choices.mostly([right, ...ATTESTORS], 14);
    return attesting(by, claim, form);
  };
  switch (choices.mostly([0, 1, 2, 3, 4, 5, 6, 7, 8], 12)) {
    case 1:
      return [call];
    case 2:
      return [call, attest()];
    case 3:
      return [attesting(right, { ...claim, amount: claim.amount + 1n }), attest(), call];
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
    default:
      return [attest(), call];
  }
};

const refund = (world: World, choices: Choices, cancels: boolean): Call => {
  const { target } = chosenEscrow(
    world,
    choices,
    ({ state, expiresAt }) => state === 0 && cancels === world.time < expiresAt,
  );
  return refundCall(cancels ? "cancel_escrow" : "claim_refund", target);
};

const archive = (world: World, choices: Choices): Call => {
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

const utf8 = new TextEncoder();
/** Characters that a name may not have, and two that it may. */
const ALONE =
  "\u0000 \u001f \u007f \u0085 \u009f \u00a0 \u202e \u2066 \u200f \u061c \u200b \u{10ffff}";
const NAMES: ReadonlyArray<Uint8Array> = [
  "Weather Data Ltd",
  "x",
  "Wetterdaten Äöü 天気",
  "a".repeat(32),
  "a".repeat(33),
  "",
  ...ALONE.split(" "),
].map((text) => utf8.encode(text));
const MALFORMED = [
  [0xc0, 0x80],
  [0xed, 0xa0, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0x61, 0xe2, 0x80],
];

const register = (world: World, choices: Choices): Call => {
  const registered = merchantsOf(world);
  const open = MERCHANTS.filter((each) => !registered.includes(each));
  const wallet = open.length > 0 && !choices.seldom(3) ? choices.of(open) : choices.of(MERCHANTS);
  const names = [...NAMES, ...MALFORMED.map((each) => Uint8Array.from(each))];
  return callOf(
    "register_merchant",
    {
      payer: choices.mostly(PAYERS),
      merchant_wallet: wallet,
      merchant: merchantOf(wallet).address,
    },
    {
      attestor: choices.mostly([...ATTESTORS.map(({ address }) => address), ZERO_ADDRESS]),
      name: choices.mostly(names),
    },
  );
};

const rotate = (world: World, choices: Choices): Call => {
  const wallet = chosenMerchant(world, choices);
  const { content } = accountAt(world, merchantOf(wallet).address);
  const others = ATTESTORS.map(({ address }) => address).filter(
    (each) => content.kind !== "merchant" || each !== content.attestor,
  );
  const same = content.kind === "merchant" ? content.attestor : ZERO_ADDRESS;
  return callOf(
    "rotate_attestor",
    { merchant_wallet: wallet, merchant: merchantOf(wallet).address },
    {
      attestor: choices.seldom(2) ? choices.of([same, ZERO_ADDRESS]) : choices.of(others),
      revoke: choices.mostly([0, 1, 2], 8),
    },
  );
};

const adminOf = (world: World): Address => {
  const { content } = accountAt(world, REGISTRY.address);
  return content.kind === "registry" ? content.admin : ADMINS[0];
};

const administer = (world: World, choices: Choices): Call => {
  const admin = choices.mostly([adminOf(world), ...ADMINS], 13);
  const merchant = merchantOf(chosenMerchant(world, choices)).address;
  const registry = accountAt(world, REGISTRY.address).content;
  const proposed = registry.kind === "registry" ? registry.proposedAdmin : ZERO_ADDRESS;
  switch (choices.below(6)) {
    case 0:
      return callOf(
        "slash_merchant",
        { admin, merchant },
        { points: choices.of([1, 0, 2 ** 32 - 1]) },
      );
    case 1:
      return callOf("propose_admin", { admin }, { admin: choices.of([...ADMINS, ZERO_ADDRESS]) });
    case 2: {
      const known = ADMINS.find((each) => each === proposed) ?? ADMINS[1];
      return callOf("accept_admin", { proposed_admin: choices.mostly([known, ...ADMINS], 13) }, {});
    }
    case 3:
      return callOf("set_merchant_status", { admin, merchant }, { status: choices.of([1, 0, 2]) });
    default:
      return callOf("set_merchant_status", { admin, merchant }, { status: 0 });
  }
};

const initialize = (choices: Choices, custody: boolean): Call => {
  const upgrade_authority = choices.mostly(ADMINS, 14);
  const by = { payer: choices.mostly(PAYERS), upgrade_authority };
  return custody
    ? callOf("initialize_custody", { ...by, program_data: CUSTODY_DATA }, {})
    : callOf(
        "initialize_registry",
        { ...by, program_data: ATTESTOR_DATA },
        { settlementMint: MINTS[0] },
      );
};

const verify = (world: World, choices: Choices): Call =>
  callOf(
    "verify_attestation",
    {
      escrow: choices.of([STRANGER, ...AGENTS]),
      merchant: merchantOf(chosenMerchant(world, choices)).address,
    },
    { proofHash: PROOFS[0], timestamp: world.time, partialAmount: 0n },
  );

const calls = (world: World, choices: Choices): Sent => {
  const isEmpty = (address: Address) => accountAt(world, address).content.kind === "wallet";
  if (isEmpty(CONFIG.address) && !choices.seldom(3)) return [initialize(choices, true)];
  if (isEmpty(REGISTRY.address) && !choices.seldom(3)) return [initialize(choices, false)];
  if (merchantsOf(world).length === 0 && !choices.seldom(3)) return [register(world, choices)];
  const which = choices.below(20);
  const settles = which >= 4 && which <= 12;
  const hasPending = escrowsOf(world).some(({ escrow }) => escrow.state === 0);
  if (settles && !hasPending && !choices.seldom(3)) return [create(world, choices)];
  switch (which) {
    case 0:
    case 1:
    case 2:
    case 3:
      return [create(world, choices)];
    case 4:
    case 5:
    case 6:
      return release(world, choices, false);
    case 7:
    case 8:
      return release(world, choices, true);
    case 9:
    case 10:
      return [refund(world, choices, false)];
    case 11:
    case 12:
      return [refund(world, choices, true)];
    case 13:
    case 14:
      return [archive(world, choices)];
    case 15:
      return [register(world, choices)];
    case 16:
      return [rotate(world, choices)];
    case 17:
      return [administer(world, choices)];
    case 18:
      return choices.seldom(8)
        ? [verify(world, choices)]
        : [initialize(choices, choices.seldom(8))];
    default:
      return rotatedRelease(world, choices);
  }
};

/** The merchant lets another key attest, releases, and takes the former key back: one transaction. */
const rotatedRelease = (world: World, choices: Choices): Sent => {
  const [attest, ...rest] = release(world, choices, false);
  const call = rest.at(-1);
  if (attest === undefined || call === undefined) return [create(world, choices)];
  return [attest, rotate(world, choices), call];
};

const wait = (world: World, choices: Choices): Step => {
  const bounds = escrowsOf(world).flatMap(({ escrow }) =>
    escrow.state === 0
      ? [escrow.expiresAt - 1n, escrow.expiresAt, escrow.createdAt + 300n, escrow.createdAt + 301n]
      : [escrow.settledAt + WEEK - 1n, escrow.settledAt + WEEK],
  );
  const ahead = [1n, 30n, 31n, 300n].map((by) => world.time + by);
  const later = bounds.filter((each) => each > world.time);
  const pool = later.length > 0 && choices.seldom(7) ? later : ahead;
  return { kind: "wait", until: choices.of(pool) };
};

const tokens = (world: World, choices: Choices): Step | undefined => {
  const pending = escrowsOf(world).filter(({ escrow }) => escrow.state === 0);
  const payees = pending.flatMap(({ escrow }) => [escrow.agentOwner, escrow.merchant]);
  const near = TOKEN_PLACES.filter(
    (each) =>
      payees.includes(each.holder) && pending.some(({ escrow }) => escrow.mint === each.mint),
  );
  const { address, holder, mint } = choices.of(
    near.length > 0 && !choices.seldom(2) ? near : TOKEN_PLACES,
  );
  const account = accountAt(world, address);
  const { content } = account;
  const put = (what: string, token: Partial<Token>): Step | undefined =>
    content.kind === "token"
      ? {
          kind: "change",
          what,
          address,
          account: { ...account, content: { ...content, ...token } },
        }
      : undefined;
  const reopened: Token = {
    kind: "token",
    mint,
    holder,
    amount: 0n,
    delegate: null,
    closeAuthority: null,
    frozen: false,
  };
  switch (choices.below(8)) {
    case 0:
    case 1:
      return {
        kind: "change",
        what: "reopen",
        address,
        account: {
          lamports: rent(165),
          content: {
            ...reopened,
            amount: content.kind === "token" ? content.amount : 1_000_000_000n,
          },
        },
      };
    case 2:
      return put("freeze", { frozen: true });
    case 3:
      return put("approve", { delegate: STRANGER });
    case 4:
      return put("let close", { closeAuthority: STRANGER });
    case 5:
      return put("give away", { holder: choices.of([STRANGER, ...AGENTS]) });
    case 6:
      return {
        kind: "change",
        what: "close",
        address,
        account: { lamports: 0n, content: { kind: "wallet" } },
      };
    default:
      return put("empty", { amount: choices.of([0n, 3n]) });
  }
};

const meddling = (world: World, choices: Choices): Step | undefined => {
  const lamports = choices.of([1n, rent(0), rent(165), rent(368) + 5n]);
  const gift = (address: Address): Step => {
    const account = accountAt(world, address);
    const given = { ...account, lamports: account.lamports + lamports };
    return { kind: "change", what: "lamports", address, account: given };
  };
  switch (choices.below(7)) {
    case 0: {
      // Base units that nobody asked for; and anyone can make a vault before its escrow.
      const open = VAULTS.filter((each) => accountAt(world, each.address).content.kind === "token");
      const { address, escrow, mint } = choices.of(
        open.length > 0 && !choices.seldom(6) ? open : VAULTS,
      );
      const present = accountAt(world, address);
      const token: Token =
        present.content.kind === "token"
          ? present.content
          : {
              kind: "token",
              mint,
              holder: escrow,
              amount: 0n,
              delegate: null,
              closeAuthority: null,
              frozen: false,
            };
      const account = {
        lamports: present.lamports > rent(165) ? present.lamports : rent(165),
        content: { ...token, amount: token.amount + choices.of([0n, 1n, 77n]) },
      };
      return { kind: "change", what: "dust", address, account };
    }
    case 1:
      return gift(choices.of(ESCROWS).address);
    case 2:
      return gift(choices.of(VAULTS).address);
    case 3:
      return gift(
        choices.of([
          ...MERCHANTS.map((each) => merchantOf(each).address),
          CONFIG.address,
          REGISTRY.address,
        ]),
      );
    case 4: {
      const { address } = choices.of(VAULTS);
      const account = accountAt(world, address);
      if (account.content.kind !== "token") return undefined;
      const content = { ...account.content, frozen: !account.content.frozen };
      return { kind: "change", what: "freeze a vault", address, account: { ...account, content } };
    }
    case 5: {
      const pool = [
        CONFIG.address,
        REGISTRY.address,
        merchantOf(MERCHANTS[0]).address,
        ...ESCROWS.map(({ address }) => address),
      ];
      const data = programBytes(accountAt(world, choices.of(pool)).content);
      return data === undefined
        ? undefined
        : {
            kind: "change",
            what: "forge",
            address: FORGERY,
            account: { lamports: rent(data.length), content: { kind: "foreign", data } },
          };
    }
    default: {
      const address = merchantOf(MERCHANTS[0]).address;
      const account = accountAt(world, address);
      if (account.content.kind !== "merchant") return undefined;
      const content = {
        ...account.content,
        reputation: 2 ** 32 - 2,
        deliveries: 2n ** 64n - 2n,
        partialDeliveries: 2n ** 64n - 2n,
        volume: 2n ** 64n - 6_000_000n,
      };
      return {
        kind: "change",
        what: "counters near their end",
        address,
        account: { ...account, content },
      };
    }
  }
};

/** The next step in a world, as a list of numbers chooses it. */
export const stepFrom = (world: World, numbers: ReadonlyArray<number>): Step => {
  const choices = new Choices(numbers);
  const kind = choices.below(16);
  const around =
    kind >= 14
      ? wait(world, choices)
      : kind === 13
        ? tokens(world, choices)
        : kind === 12
          ? meddling(world, choices)
          : undefined;
  if (around !== undefined) return around;
  const sent = calls(world, choices);
  const more = choices.seldom(2)
    ? [...sent, ...calls(world, choices).filter(({ kind: each }) => each === "call")]
    : sent;
  if (!choices.seldom(4)) return { kind: "send", sent: more };
  const which = choices.below(more.length);
  return {
    kind: "send",
    sent: more.map((each, i) =>
      i === which && each.kind === "call" ? deviating(each, choices) : each,
    ),
  };
};

/** The world after what happens around the programs. */
export const worldAfter = (world: World, step: Exclude<Step, { readonly kind: "send" }>): World =>
  step.kind === "wait"
    ? { ...world, time: step.until }
    : changed(world, new Map([[step.address, step.account]]));

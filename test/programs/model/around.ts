import type { Address } from "../../../core/domain/address.ts";
import {
  type Account,
  endOf,
  ESCROW_BYTES,
  programBytes,
  RATE,
  rent,
  type Token,
  TOKEN_BYTES,
} from "./account.ts";
import type { Sent } from "./call.ts";
import {
  AGENTS,
  ESCROWS,
  FORGERY,
  MERCHANTS,
  PAYERS,
  STRANGER,
  TOKEN_PLACES,
  VAULTS,
} from "./cast.ts";
import type { Choices } from "./choice.ts";
import { escrowsOf } from "./found.ts";
import { accountAt, CONFIG, merchantOf, REGISTRY, type World } from "./world.ts";

/** The next step: a transaction, or an event outside the two programs. */
export type Step =
  | { readonly kind: "send"; readonly sent: Sent }
  | { readonly kind: "wait"; readonly until: bigint }
  | { readonly kind: "rate"; readonly rate: bigint }
  | {
      readonly kind: "change";
      readonly what: string;
      readonly address: Address;
      readonly account: Account;
    };

const WEEK = 604_800n;

/** A later time: the next second, or a second at which a rule's result changes. */
export const wait = (world: World, choices: Choices): Step => {
  const bounds = escrowsOf(world).flatMap(({ escrow }) =>
    escrow.state === 0
      ? [endOf(escrow) - 1n, endOf(escrow), escrow.createdAt + 300n, escrow.createdAt + 301n]
      : [escrow.settledAt + WEEK - 1n, escrow.settledAt + WEEK],
  );
  const ahead = [1n, 30n, 31n, 300n].map((by) => world.time + by);
  const later = bounds.filter((each) => each > world.time);
  const pool = later.length > 0 && choices.seldom(7) ? later : ahead;
  return { kind: "wait", until: choices.of(pool) };
};

/** A step of a token account's owner or its mint's freeze authority; undefined without a token account. */
export const tokens = (world: World, choices: Choices): Step | undefined => {
  const pending = escrowsOf(world).filter(({ escrow }) => escrow.state === 0);
  const payees = new Set(pending.flatMap(({ escrow }) => [escrow.agentOwner, escrow.merchant]));
  const near = TOKEN_PLACES.filter(
    (each) => payees.has(each.holder) && pending.some(({ escrow }) => escrow.mint === each.mint),
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
          lamports: rent(TOKEN_BYTES),
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

const MEBIBYTE = 1024 * 1024;

/** What a payer or an agent does to its own account: data, another owner, nothing in it, or as it was. */
const holders = (world: World, choices: Choices): Step => {
  const address = choices.of([...PAYERS, ...AGENTS]);
  const { lamports } = accountAt(world, address);
  const rich = lamports > 100_000_000_000n ? lamports : 1_000_000_000_000n;
  const change = (what: string, account: Account): Step => ({
    kind: "change",
    what,
    address,
    account,
  });
  const wallet = (size: number): Account => ({
    lamports: rich,
    content: size === 0 ? { kind: "wallet" } : { kind: "wallet", size },
  });
  switch (choices.below(8)) {
    case 0:
      return change("grow", wallet(MEBIBYTE));
    case 1:
      return change("grow to the most", wallet(choices.seldom(2) ? 10 * MEBIBYTE : 2 * MEBIBYTE));
    case 2:
      return change("assign", {
        lamports: rich,
        content: { kind: "foreign", data: new Uint8Array(8) },
      });
    case 3:
      return change("empty", { lamports: 0n, content: { kind: "wallet" } });
    case 4:
      return change("nearly empty", { lamports: rent(0) + 1n, content: { kind: "wallet" } });
    default:
      return change("restore", wallet(0));
  }
};

/** A change that anybody can make to foreign accounts, or that only time makes; undefined when it changes nothing. */
export const meddling = (world: World, choices: Choices): Step | undefined => {
  const lamports = choices.of([1n, rent(0), rent(TOKEN_BYTES), rent(ESCROW_BYTES) + 5n]);
  const gift = (address: Address): Step => {
    const account = accountAt(world, address);
    const given = { ...account, lamports: account.lamports + lamports };
    return { kind: "change", what: "lamports", address, account: given };
  };
  switch (choices.below(9)) {
    case 7:
      return holders(world, choices);
    case 8:
      // A ledger's rent only falls (SIMD-0437).
      return world.rate === RATE ? { kind: "rate", rate: RATE / 10n } : undefined;
    case 0: {
      // Anyone can send tokens to a vault, and can make a vault before its escrow exists.
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
        lamports: present.lamports > rent(TOKEN_BYTES) ? present.lamports : rent(TOKEN_BYTES),
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

import { type Address, addressFromBytes } from "../../../../core/domain/address.ts";
import type { LedgerAccount } from "../../../../core/domain/ledger/account.ts";
import { encodeEscrowAccount } from "../../../../core/protocol/accounts/escrow-account.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { labelled, walletOf, worldEscrow } from "../../../simulation/world-escrow.ts";

type Account = Pick<LedgerAccount, "address" | "owner" | "data">;
type Random = () => number;

const below = (random: Random, end: number): number => Math.floor(random() * end);

/** Changes one byte of [from, to) to another value. */
const flip = (data: Uint8Array, random: Random, from: number, to: number): Uint8Array => {
  const at = from + below(random, to - from);
  return data.with(at, (data[at] ?? 0) ^ (1 + below(random, 255)));
};

const setI64 = (data: Uint8Array, at: number, value: bigint): Uint8Array => {
  const copy = data.slice();
  new DataView(copy.buffer).setBigInt64(at, value, true);
  return copy;
};

const resized = (data: Uint8Array, length: number): Uint8Array => {
  const copy = new Uint8Array(length);
  copy.set(data.subarray(0, length));
  return copy;
};

/**
 * Changes that turn a valid escrow account into one that no escrow program could have left. Offsets: docs/protocol.md.
 */
const MUTATIONS: Readonly<Record<string, (account: Account, random: Random) => Account>> = {
  owner: (account) => ({ ...account, owner: walletOf("another program") }),
  length: (account, random) => {
    const length = below(random, 700);
    const { data } = account;
    return { ...account, data: resized(data, length === data.length ? length - 1 : length) };
  },
  discriminator: (account, random) => ({ ...account, data: flip(account.data, random, 0, 8) }),
  version: (account, random) => ({ ...account, data: flip(account.data, random, 8, 9) }),
  bump: (account, random) => ({ ...account, data: flip(account.data, random, 9, 10) }),
  state: (account, random) => ({ ...account, data: account.data.with(10, 4 + below(random, 252)) }),
  vault_bump: (account, random) => ({ ...account, data: flip(account.data, random, 11, 12) }),
  reserved: (account, random) => ({ ...account, data: flip(account.data, random, 12, 16) }),
  agent: (account, random) => ({ ...account, data: flip(account.data, random, 16, 48) }),
  task: (account, random) => ({ ...account, data: flip(account.data, random, 144, 176) }),
  address: (account) => account,
  amount: (account) => ({ ...account, data: setI64(account.data, 176, 0n) }),
  released: (account) => ({ ...account, data: setI64(account.data, 184, -1n) }),
  created: (account) => ({ ...account, data: setI64(account.data, 192, -5n) }),
  expiry: (account) => ({ ...account, data: setI64(account.data, 200, 5n) }),
  settled: (account) => ({ ...account, data: setI64(account.data, 208, 1n) }),
  foreign: (account, random) => ({
    ...account,
    data: Uint8Array.from({ length: below(random, 400) }, () => below(random, 256)),
  }),
};
const KINDS = Object.keys(MUTATIONS);

/**
 * The `number`th account of a lying node. Half of the accounts with changed bytes keep the original address, so that
 * only the bytes are wrong.
 */
export const mutatedAccount = (
  number: number,
  random: Random,
): { readonly address: Address; readonly kind: string; readonly account: Account } => {
  const escrow = worldEscrow(1_000_000 + number);
  const kind = KINDS[number % KINDS.length] ?? "owner";
  const right = {
    address: escrow.address,
    owner: LOCAL_DEPLOYMENT.custodyProgram,
    data: encodeEscrowAccount(escrow),
  };
  const account = MUTATIONS[kind]?.(right, random) ?? right;
  const isElsewhere = kind === "address" || random() < 0.5;
  const address = isElsewhere ? addressFromBytes(labelled(`elsewhere ${number}`)) : right.address;
  return { address, kind, account };
};

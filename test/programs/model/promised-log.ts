import { addressToBytes, type Address } from "../../../core/domain/address.ts";
import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";
import { fieldsOf } from "../../../core/protocol/accounts/byte-fields.ts";
import { CONFIG, PROGRAMS } from "./world.ts";
import { createHash } from "node:crypto";
import type { Sent } from "./call.ts";

export type Accounts = ReadonlyMap<Address, LedgerAccount>;

/** A transaction on the ledger: the accounts that it names, its time, and what a byte of rent costs. */
export type Passed = {
  readonly before: Accounts;
  readonly after: Accounts;
  readonly sent: Sent;
  readonly time: bigint;
  readonly rate: bigint;
  readonly associatedOf: (wallet: Address, mint: Address) => Address;
};

export const ESCROW = 416;
export const TOMBSTONE = 96;
export const sha256 = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return new Uint8Array(hash.digest());
};

/** The state of custody's account, archived or not; undefined for any other account. */
export const stateOf = (account: LedgerAccount | undefined): number | undefined => {
  if (account?.owner !== PROGRAMS.custodyProgram) return undefined;
  if (account.data.length === ESCROW) return account.data[10];
  return account.data.length === TOMBSTONE ? account.data[24] : undefined;
};

/** A log: how many leaves it has, and a node for each bit of that. */
type Log = { size: bigint; readonly nodes: Array<Uint8Array> };

const logIn = (config: LedgerAccount | undefined): Log =>
  config === undefined
    ? { size: 0n, nodes: [] }
    : {
        size: fieldsOf(config.data).u64(80),
        nodes: Array.from({ length: 40 }, (_, at) => fieldsOf(config.data).bytes(88 + 32 * at, 32)),
      };

const isBit = (size: bigint, at: number): boolean => ((size >> BigInt(at)) & 1n) === 1n;

const append = (log: Log, ...leaf: ReadonlyArray<Uint8Array>): void => {
  let hash = sha256(Uint8Array.of(0), ...leaf);
  let at = 0;
  for (; isBit(log.size, at); at++)
    hash = sha256(Uint8Array.of(1), log.nodes[at] ?? new Uint8Array(), hash);
  log.nodes[at] = hash;
  log.size += 1n;
};

/** Smaller subtrees stand to the right of larger ones. */
const rootOf = ({ size, nodes }: Log): string =>
  nodes
    .filter((_, at) => isBit(size, at))
    .reduce<Uint8Array | null>(
      (right, left) => (right === null ? left : sha256(Uint8Array.of(1), left, right)),
      null,
    )
    ?.toHex() ?? "";

/** What is broken of the log: a creation or a settlement is one leaf, and nothing else is. */
export const brokenLog = ({ before, after }: Passed): ReadonlyArray<string> => {
  const broken: Array<string> = [];
  const log = logIn(before.get(CONFIG.address));
  let events = 0n;
  for (const [address, account] of after) {
    const [was, is] = [stateOf(before.get(address)), stateOf(account)];
    if (is === undefined || was === is) continue;
    events += 1n;
    append(log, Uint8Array.of(1, is), addressToBytes(address), sha256(account.data));
  }
  const [first, last] = [before.get(CONFIG.address), after.get(CONFIG.address)];
  if (events > 0n && (first === undefined || last === undefined))
    broken.push("an event without the config");
  if (first === undefined || last === undefined) return broken;
  const now = logIn(last);
  if (now.size !== logIn(first).size + events) broken.push("count is not the number of events");
  else if (rootOf(now) !== rootOf(log)) broken.push("the root is not that of the events");
  return broken;
};

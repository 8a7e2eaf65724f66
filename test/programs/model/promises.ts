import { createHash } from "node:crypto";
import { type Address, addressToBytes } from "../../../core/domain/address.ts";
import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";
import { fieldsOf } from "../../../core/protocol/accounts/byte-fields.ts";
import { TOKEN_PROGRAM } from "../../../core/protocol/addresses/well-known-addresses.ts";
import type { Sent } from "./call.ts";
import { CONFIG, PROGRAMS } from "./world.ts";

// Rules that must hold independently of the model. They are checked on the ledger's bytes before and after a
// transaction, at the offsets of docs/protocol.md.

type Accounts = ReadonlyMap<Address, LedgerAccount>;

const PENDING = 0;
const REFUNDED = 2;

/** A custody account of 368 bytes, or of the 96 bytes of a tombstone. */
const stateOf = (account: LedgerAccount | undefined): number | undefined => {
  if (account?.owner !== PROGRAMS.custodyProgram) return undefined;
  if (account.data.length === 368) return account.data[10];
  return account.data.length === 96 ? account.data[24] : undefined;
};

const unitsOf = (account: LedgerAccount | undefined): bigint =>
  account?.owner === TOKEN_PROGRAM && account.data.length === 165
    ? fieldsOf(account.data).u64(64)
    : 0n;

const holderOf = (account: LedgerAccount): Address => fieldsOf(account.data).address(32);

const sha256 = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return new Uint8Array(hash.digest());
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

const isShared = ({ data }: LedgerAccount): boolean =>
  fieldsOf(data).u32(72) !== 0 || fieldsOf(data).u32(129) !== 0;

/**
 * Payments of a settled escrow to accounts that do not belong to its payees: their wallets, and the associated accounts
 * in the transaction.
 */
const paidWrongly = (
  escrow: LedgerAccount,
  before: Accounts,
  after: Accounts,
  sent: Sent,
  associatedOf: (wallet: Address, mint: Address) => Address,
): ReadonlyArray<string> => {
  const fields = fieldsOf(escrow.data);
  const [agent, merchant, mint] = [fields.address(16), fields.address(48), fields.address(80)];
  const payees =
    escrow.data[10] === REFUNDED ? [agent] : escrow.data[10] === 1 ? [merchant] : [agent, merchant];
  const named = new Set(sent.flatMap((each) => each.sent.accounts.map(({ address }) => address)));
  return [...after.values()].flatMap((account) => {
    const held = before.get(account.address);
    if (unitsOf(account) <= unitsOf(held) || held === undefined) return [];
    const isPayees = payees.some((payee) => {
      const own = associatedOf(payee, mint);
      if (holderOf(held) !== payee) return false;
      return account.address === own || (named.has(own) && !isShared(held));
    });
    return isPayees ? [] : [`${account.address} was paid and belongs to no payee`];
  });
};

/** The promises that one transaction breaks; `time` is the ledger's clock. */
export const brokenPromises = (
  before: Accounts,
  after: Accounts,
  sent: Sent,
  time: bigint,
  associatedOf: (wallet: Address, mint: Address) => Address,
): ReadonlyArray<string> => {
  const broken: Array<string> = [];
  const sum = (accounts: Accounts) =>
    [...accounts.values()].reduce((units, account) => units + unitsOf(account), 0n);
  if (sum(before) !== sum(after)) broken.push("tokens were made or lost");
  let events = 0n;
  const log = logIn(before.get(CONFIG.address));
  for (const [address, account] of after) {
    const [was, is] = [stateOf(before.get(address)), stateOf(account)];
    if (was !== undefined && is === undefined) broken.push(`the escrow ${address} is gone`);
    if (is === undefined) continue;
    if (was !== undefined && was !== PENDING && was !== is)
      broken.push(`the escrow ${address} was settled twice`);
    if (was === is) continue;
    events += 1n;
    append(log, Uint8Array.of(1, is), addressToBytes(address), sha256(account.data));
    if (was === undefined) {
      if (is !== PENDING) broken.push(`the escrow ${address} was made settled`);
      continue;
    }
    const fields = fieldsOf(account.data);
    const expired = time >= fields.i64(200);
    const merchant = fields.address(48);
    const bySelf = sent.some((each) =>
      each.sent.accounts.some(({ address: signer, role }) => signer === merchant && role >= 2),
    );
    if (is === REFUNDED && !expired && !bySelf)
      broken.push("a refund before expiry without the merchant's signature");
    if (is !== REFUNDED && expired) broken.push("a release after expiry");
    broken.push(...paidWrongly(account, before, after, sent, associatedOf));
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

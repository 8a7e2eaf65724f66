import { type Hash32, hash32FromBytes } from "../../core/domain/hash32.ts";
import { sha256 } from "../../core/domain/sha256.ts";
import { rootOf } from "../../core/log/tree/frontier.ts";
import { decodeCustodyConfigAccount } from "../../core/protocol/accounts/settings-accounts.ts";
import { CUSTODY_ACCOUNTS } from "../../core/protocol/generated/custody.ts";
import { custodyConfigAddress, escrowAddress } from "../../core/protocol/addresses/addresses.ts";
import { accountOf as accountWith } from "../doubles/accounts.ts";
import * as s from "../programs/fixture/settlement.ts";
import type { TestLedger } from "../programs/fixture/test-ledger.ts";
import { type KnownRanges, rangeKey } from "../core/log/support/reference-tree.ts";
import { IndependentTree, type LedgerEvent } from "./independent-tree.ts";

/** Levels of perfect subtrees that the account has room for. */
const LEVELS = 40;
/** Events that are logged behind a planted log. */
const MORE = 3;

const CONFIG = custodyConfigAddress(s.deployment).address;
const NETWORK = { genesisHash: s.genesisHash, ...s.deployment };

const taskOf = (number: number): Hash32 =>
  hash32FromBytes(sha256(new TextEncoder().encode(`task ${number}`)));

/** The configuration account's bytes now, a copy. */
const accountOf = (ledger: TestLedger): Uint8Array => ledger.account(CONFIG).data.slice();

/** The root that core/log folds from the account's bytes. */
export const foldOf = (data: Uint8Array): Hash32 => {
  const account = accountWith(CONFIG, s.deployment.custodyProgram, data);
  const decoded = decodeCustodyConfigAccount(account, s.deployment);
  if ("fault" in decoded) throw new Error(decoded.fault);
  return rootOf(decoded.value);
};

/** Lets the custody program log the creation of an escrow that nobody created before. */
const createAnother = (ledger: TestLedger, number: number): LedgerEvent => {
  ledger.fund(s.agent.address);
  const taskHash = taskOf(number);
  ledger.do([s.createInstruction({ taskHash, amount: 1n })], [s.agent]);
  const { address } = escrowAddress(s.deployment, s.agent.address, taskHash);
  return { state: "Pending", address, data: ledger.account(address).data };
};

/** What the custody program keeps after an event: its configuration account, and the event's leaf by docs/log.md. */
export type LoggedAccount = { readonly account: Uint8Array; readonly leaf: Uint8Array };

const leafOf = (event: LedgerEvent): Uint8Array => {
  const [, leaf] = new IndependentTree(NETWORK, [event]).leaves;
  if (leaf === undefined) throw new Error("an event has a leaf");
  return Uint8Array.from(leaf);
};

/** A log that the real custody program grows from leaf 0 on: what it keeps at each size from 1 to `sizes`. */
export const grownAccounts = function* (sizes: number): Generator<LoggedAccount> {
  const ledger = s.merchantLedger();
  const [zero = new Uint8Array()] = new IndependentTree(NETWORK, []).leaves;
  yield { account: accountOf(ledger), leaf: Uint8Array.from(zero) };
  for (let number = 1; number < sizes; number++) {
    const leaf = leafOf(createAnother(ledger, number));
    yield { account: accountOf(ledger), leaf };
  }
};

/** A log of any size, and what the real custody program keeps after each of three further events. */
export type LargeLog = {
  /** How many leaves it has before them. */
  readonly size: number;
  readonly before: Uint8Array;
  readonly grown: ReadonlyArray<LoggedAccount>;
};

/** The size of a log before three further leaves make it one of 2^40 - 1, the largest. */
const LARGEST = 2 ** LEVELS - 1 - MORE;

/** Any size up to the largest, with as many binary digits as chance says. */
const anySize = (random: () => number): number => {
  const half = 2 ** Math.floor(random() * LEVELS);
  return Math.min(LARGEST, half + Math.floor(random() * half));
};

/**
 * Logs of the largest size, of the sizes around 2^39, and of `count` random sizes, each with any hashes for its perfect
 * subtrees and for what means nothing.
 */
export const largeLogs = function* (random: () => number, count: number): Generator<LargeLog> {
  const ledger = s.merchantLedger();
  const { count: countAt, frontier } = CUSTODY_ACCOUNTS.CustodyConfig.at;
  const edges = [LARGEST, 2 ** 39 - 2, 2 ** 39 - 1, 2 ** 39];
  const sizes = [...edges, ...Array.from({ length: count }, () => anySize(random))];
  for (const [round, size] of sizes.entries()) {
    const before = accountOf(ledger);
    new DataView(before.buffer).setBigUint64(countAt, BigInt(size), true);
    for (let at = frontier; at < before.length; at++) before[at] = Math.floor(random() * 256);
    ledger.put(CONFIG, s.deployment.custodyProgram, before);
    const grown = Array.from({ length: MORE }, (_, more) => {
      const leaf = leafOf(createAnother(ledger, MORE * round + more));
      return { account: accountOf(ledger), leaf };
    });
    yield { size, before, grown };
  }
};

/** The hashes of a log's perfect subtrees, as its account keeps them, by the ranges of their leaves. */
export const rangesIn = ({ size, before }: LargeLog): KnownRanges => {
  const { frontier } = CUSTODY_ACCOUNTS.CustodyConfig.at;
  const ranges = new Map<string, Uint8Array>();
  let from = 0;
  for (let level = LEVELS - 1; level >= 0; level--) {
    const width = 2 ** level;
    if (Math.floor(size / width) % 2 === 0) continue;
    const at = frontier + 32 * level;
    ranges.set(rangeKey(from, from + width), before.slice(at, at + 32));
    from += width;
  }
  return ranges;
};

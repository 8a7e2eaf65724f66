import type { Address } from "../../core/domain/address.ts";
import type { LedgerAccount } from "../../core/domain/ledger/account.ts";
import type { LedgerTransaction } from "../../core/domain/ledger/history.ts";
import type { LedgerSignature } from "../../core/domain/ledger/signature.ts";
import type { TransactionError } from "../../core/domain/relay/relay-entry.ts";
import { CLOCK_SYSVAR } from "../../core/protocol/addresses/well-known-addresses.ts";
import { clockAccount } from "../doubles/accounts.ts";

/**
 * An account as a node shows it. `listedBy` is a program for which a lying node lists it, whatever its owner and the
 * filters.
 */
export type ShownAccount = LedgerAccount & { readonly listedBy?: Address };

/** A transaction in a block. The accounts that sign come first among its accounts. */
export type ChainTransaction = LedgerTransaction & {
  /** Unix seconds. */
  readonly time: bigint;
  /** Why it failed, null for success. */
  readonly error: TransactionError | null;
  readonly logs: ReadonlyArray<string>;
};

/** A chain as nodes see it: what stands in it at each slot. Both faces, the ports and JSON-RPC, show one. */
export type ChainView = {
  /** base58 */
  readonly genesisHash: string;
  /** The newest slot. */
  readonly slot: bigint;
  /** The slots after which a block is final. */
  readonly finality: bigint;
  /** The first slot of the history, as nodes report it. */
  readonly firstSlot: bigint;
  /** About how many accounts there are. */
  readonly size: number;
  readonly accountAt: (address: Address, slot: bigint) => ShownAccount | null;
  /**
   * The accounts that a program lists, in a node's order, from a place on, written since a slot; each with its place.
   */
  readonly accountsOf: (
    program: Address,
    slot: bigint,
    from?: number,
    since?: bigint,
  ) => Iterable<readonly [number, ShownAccount]>;
  /**
   * At most `limit` transactions up to a slot that name an address, newest first, after `before`; none after an unknown
   * one.
   */
  readonly newestOf: (
    address: Address,
    slot: bigint,
    before: string | null,
    limit: number,
  ) => ReadonlyArray<ChainTransaction>;
  /** At most `limit` of the same, oldest first, from the place `from`. */
  readonly oldestOf: (
    address: Address,
    slot: bigint,
    from: number,
    limit: number,
  ) => ReadonlyArray<ChainTransaction>;
  readonly transaction: (signature: string) => ChainTransaction | undefined;
};

type Version = { readonly slot: bigint; readonly account: ShownAccount | null };

/** A simulated chain: accounts with their states at each slot, and transactions. A test moves it. */
export class Chain implements ChainView {
  slot = 1000n;
  finality = 0n;
  firstSlot = 0n;
  readonly genesisHash: string;
  /** Oldest first. */
  readonly transactions: Array<ChainTransaction> = [];
  /** Called with each transaction that lands. */
  readonly listeners = new Set<(landed: ChainTransaction) => void>();
  readonly #timeAt: (slot: bigint) => bigint;
  readonly #versions = new Map<Address, Array<Version>>();
  readonly #bySignature = new Map<string, ChainTransaction>();

  /** `timeAt` gives the Clock sysvar's Unix seconds at a slot. */
  constructor(genesisHash: string, timeAt: (slot: bigint) => bigint) {
    this.genesisHash = genesisHash;
    this.#timeAt = timeAt;
  }

  /** Sets an account, at the present slot by default. */
  put(account: ShownAccount, slot = this.slot): void {
    this.#write(account.address, account, slot);
  }

  /** Deletes the account at an address, at the present slot by default. */
  vanish(address: Address, slot = this.slot): void {
    this.#write(address, null, slot);
  }

  #write(address: Address, account: ShownAccount | null, slot: bigint): void {
    const versions = this.#versions.get(address);
    if (versions === undefined) this.#versions.set(address, [{ slot, account }]);
    else if (versions.at(-1)?.slot === slot) versions[versions.length - 1] = { slot, account };
    else versions.push({ slot, account });
  }

  accountAt(address: Address, slot: bigint): ShownAccount | null {
    const versions = this.#versions.get(address);
    if (versions === undefined)
      return address === CLOCK_SYSVAR ? clockAccount(this.#timeAt(slot)) : null;
    return lastUpTo(versions, slot)?.account ?? null;
  }

  /** The account at an address now, null for a missing one. */
  account(address: Address): ShownAccount | null {
    return this.accountAt(address, this.slot);
  }

  /** All accounts now. */
  get accounts(): ReadonlyArray<ShownAccount> {
    const newest = Array.from(this.#versions.values(), (versions) => lastUpTo(versions, this.slot));
    return newest.flatMap((version) => version?.account ?? []);
  }

  get size(): number {
    return this.#versions.size;
  }

  *accountsOf(
    program: Address,
    slot: bigint,
    from = 0,
    since = 0n,
  ): Generator<readonly [number, ShownAccount]> {
    let place = -1;
    for (const versions of this.#versions.values()) {
      place += 1;
      const version = lastUpTo(versions, slot);
      if (place < from || version === undefined || version.slot < since) continue;
      const { account } = version;
      if (account !== null && (account.listedBy ?? account.owner) === program)
        yield [place, account];
    }
  }

  /** Lands a transaction. */
  record(transaction: ChainTransaction): void {
    this.transactions.push(transaction);
    this.#bySignature.set(transaction.signature, transaction);
    for (const hear of this.listeners) hear(transaction);
  }

  /** Forgets every transaction so far, and says so. */
  prune(): void {
    this.transactions.length = 0;
    this.#bySignature.clear();
    this.firstSlot = this.slot;
  }

  /** The signature of the newest transaction. @throws Error without one. */
  newest(): LedgerSignature {
    const newest = this.transactions.at(-1);
    if (newest === undefined) throw new Error("no transaction");
    return newest.signature;
  }

  transaction(signature: string): ChainTransaction | undefined {
    return this.#bySignature.get(signature);
  }

  newestOf(
    address: Address,
    slot: bigint,
    before: string | null,
    limit: number,
  ): ReadonlyArray<ChainTransaction> {
    const last = before === null ? undefined : this.#bySignature.get(before);
    if (before !== null && last === undefined) return [];
    const end = last === undefined ? this.transactions.length : this.transactions.indexOf(last);
    const page: Array<ChainTransaction> = [];
    for (let i = end - 1; i >= 0 && page.length < limit; i--) {
      const one = this.transactions[i];
      if (one !== undefined && one.slot <= slot && one.accounts.includes(address)) page.push(one);
    }
    return page;
  }

  oldestOf(
    address: Address,
    slot: bigint,
    from: number,
    limit: number,
  ): ReadonlyArray<ChainTransaction> {
    return this.transactions
      .filter((one) => one.slot <= slot && one.accounts.includes(address))
      .slice(from, from + limit);
  }
}

const lastUpTo = (versions: ReadonlyArray<Version>, slot: bigint): Version | undefined => {
  const last = versions.at(-1);
  if (last === undefined || last.slot <= slot) return last;
  return versions.findLast((version) => version.slot <= slot);
};

import { type Address, address } from "../../core/domain/address.ts";
import type { Escrow } from "../../core/domain/escrow/escrow.ts";
import type { Hash32 } from "../../core/domain/hash32.ts";
import type { LoggedEvents } from "../../core/domain/index/sync-report.ts";
import type { LedgerAccount } from "../../core/domain/ledger/account.ts";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import {
  leavesOfEscrow,
  leavesOfTombstone,
  type NumberedLeaf,
} from "../../core/log/leaf/escrow-leaves.ts";
import { networkLeaf } from "../../core/log/leaf/event-leaf.ts";
import { LeafTree } from "../../core/log/leaf/leaf-tree.ts";
import { noEvents } from "../../core/log/tree/frontier.ts";
import { leavesOfIndexed } from "../../core/log/leaf/indexed-leaves.ts";
import { indexedEscrowOf } from "../../core/log/leaf/escrow-rows.ts";
import { encodeEscrowAccount } from "../../core/protocol/accounts/escrow-account.ts";
import { readProgramAccount } from "../../core/protocol/accounts/program-account.ts";
import { custodyConfigAddress } from "../../core/protocol/addresses/addresses.ts";
import { TEST_GENESIS_HASH } from "../arbitraries/test-ledger.ts";
import { custodyConfigAccount } from "../doubles/custody-config.ts";

/** Numbers and logs the events of a simulated ledger, as the custody program does. */
export class CustodyLog {
  readonly address: Address;
  /** Every event in order: the escrow's state and its account's bytes after it. */
  readonly events: Array<Pick<Escrow, "state" | "address"> & { readonly data: Uint8Array }> = [];
  readonly #deployment: Deployment;
  readonly #genesisHash: Address;
  readonly #tree: LeafTree;

  constructor(deployment: Deployment, genesisHash: string = TEST_GENESIS_HASH) {
    this.#deployment = deployment;
    this.#genesisHash = address(genesisHash);
    this.#tree = new LeafTree(beginningOf(deployment, this.#genesisHash));
    this.address = custodyConfigAddress(deployment).address;
  }

  get count(): bigint {
    return this.#tree.last;
  }

  /** The root of the log of all events so far. */
  get root(): Hash32 {
    return this.#tree.root;
  }

  /** All events so far. */
  get logged(): LoggedEvents {
    return this.#tree.events;
  }

  /** The config account now. */
  get config(): LedgerAccount {
    return custodyConfigAccount(this.#deployment, this.logged, this.#genesisHash);
  }

  /** A Pending escrow with the number of its creation, which is the next event. */
  create(pending: Escrow): Escrow {
    return this.#log({ ...pending, createdSeq: this.count + 1n, settledSeq: null });
  }

  /** A settled escrow with the number of its settlement, which is the next event. `createdSeq` stays. */
  settle(settled: Escrow): Escrow {
    return this.#log({ ...settled, settledSeq: this.count + 1n });
  }

  #log(escrow: Escrow): Escrow {
    const { state, address } = escrow;
    const data = encodeEscrowAccount(escrow);
    this.events.push({ state, address, data });
    const leaf = leavesOfIndexed(indexedEscrowOf(escrow, data)).at(-1);
    if (leaf === undefined) throw new Error("an escrow has a leaf");
    this.#tree.add(leaf.seq, leaf.leaf);
    return escrow;
  }
}

const beginningOf = ({ custodyProgram }: Deployment, genesisHash: Address): LoggedEvents =>
  noEvents(networkLeaf(genesisHash, custodyProgram));

/**
 * The custody config of a ledger with these accounts: its count is the highest number of their events, its root that of
 * their log. Numbers with a gap, or with two accounts, make a root that no index can prove.
 */
export const custodyConfigOf = (
  deployment: Deployment,
  accounts: Iterable<LedgerAccount>,
  genesisHash: Address = address(TEST_GENESIS_HASH),
): LedgerAccount => {
  const leaves = [...accounts]
    .flatMap((account): ReadonlyArray<NumberedLeaf> => {
      const read = readProgramAccount(account, deployment);
      if (read === null || read.kind === "merchant" || "fault" in read.decoded) return [];
      return read.kind === "escrow"
        ? leavesOfEscrow(read.decoded.value, account.data)
        : leavesOfTombstone(account.address, read.decoded.value);
    })
    .sort((a, b) => (a.seq < b.seq ? -1 : 1));
  const tree = new LeafTree(beginningOf(deployment, genesisHash));
  leaves.forEach(({ leaf }, at) => tree.add(BigInt(at + 1), leaf));
  const count = leaves.at(-1)?.seq ?? 0n;
  return custodyConfigAccount(deployment, { ...tree.events, count }, genesisHash);
};

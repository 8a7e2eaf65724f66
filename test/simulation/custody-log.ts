import type { Address } from "../../core/domain/address.ts";
import type { Escrow } from "../../core/domain/escrow/escrow.ts";
import { type Hash32, hash32FromBytes } from "../../core/domain/hash32.ts";
import type { LedgerAccount } from "../../core/domain/ledger/account.ts";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import {
  leavesOfEscrow,
  leavesOfTombstone,
  type NumberedLeaf,
} from "../../core/log/leaf/escrow-leaves.ts";
import { firstHead, headAfter, headOf } from "../../core/log/leaf/leaf-chain.ts";
import { leavesOfIndexed } from "../../core/log/leaf/indexed-leaves.ts";
import { indexedEscrowOf } from "../../core/log/leaf/escrow-rows.ts";
import { encodeEscrowAccount } from "../../core/protocol/accounts/escrow-account.ts";
import { readProgramAccount } from "../../core/protocol/accounts/program-account.ts";
import { custodyConfigAddress } from "../../core/protocol/addresses/addresses.ts";
import { custodyConfigAccount } from "../doubles/custody-config.ts";

/** Numbers and chains the events of a simulated ledger, as the custody program does. */
export class CustodyLog {
  count = 0n;
  readonly address: Address;
  /** Every event in order: the escrow's state and its account's bytes after it. */
  readonly events: Array<Pick<Escrow, "state" | "address"> & { readonly data: Uint8Array }> = [];
  readonly #deployment: Deployment;
  #head = firstHead();

  constructor(deployment: Deployment) {
    this.#deployment = deployment;
    this.address = custodyConfigAddress(deployment).address;
  }

  /** The chain over all events so far. */
  get head(): Hash32 {
    return hash32FromBytes(this.#head);
  }

  /** The config account now. */
  get config(): LedgerAccount {
    return custodyConfigAccount(this.#deployment, this.count, this.head);
  }

  /** A Pending escrow with the number of its creation, which is the next event. */
  create(pending: Escrow): Escrow {
    return this.#chain({ ...pending, createdSeq: this.count + 1n, settledSeq: null });
  }

  /** A settled escrow with the number of its settlement, which is the next event. `createdSeq` stays. */
  settle(settled: Escrow): Escrow {
    return this.#chain({ ...settled, settledSeq: this.count + 1n });
  }

  #chain(escrow: Escrow): Escrow {
    this.count += 1n;
    const { state, address } = escrow;
    const data = encodeEscrowAccount(escrow);
    this.events.push({ state, address, data });
    const leaf = leavesOfIndexed(indexedEscrowOf(escrow, data)).at(-1);
    if (leaf === undefined) throw new Error("an escrow has a leaf");
    this.#head = headAfter(this.#head, leaf.leaf);
    return escrow;
  }
}

/**
 * The custody config of a ledger with these accounts: its count is the highest number of their events, its head their
 * chain. Numbers with a gap, or with two accounts, make a head that no index can prove.
 */
export const custodyConfigOf = (
  deployment: Deployment,
  accounts: Iterable<LedgerAccount>,
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
  const head = hash32FromBytes(headOf(leaves.map(({ leaf }) => leaf)));
  const count = leaves.at(-1)?.seq ?? 0n;
  return custodyConfigAccount(deployment, count, head);
};

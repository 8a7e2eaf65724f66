import { Effect } from "effect";
import { AddressFingerprints } from "../../domain/address-fingerprints.ts";
import type { Address } from "../../domain/address.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import type { Escrow } from "../../domain/escrow/escrow.ts";
import type { AccountFault, Decoded, LedgerAccount } from "../../domain/ledger/account.ts";
import type { Merchant } from "../../domain/merchant/merchant.ts";
import {
  type EventReference,
  eventsOf,
  type SettlementEvent,
} from "../../domain/index/settlement-event.ts";
import type { RejectedAccount, SyncCounts } from "../../domain/index/sync-report.ts";
import { readProgramAccount } from "../../protocol/accounts/program-account.ts";
import {
  EscrowIndex,
  type RowChanges,
  type Sighted,
  type SyncMark,
} from "../../../ports/escrow-index.ts";

/** The most rejected accounts that a report names; all are counted. */
const MAX_REJECTED_NAMED = 100;

const byCreation = ({ row: a }: Sighted<Escrow>, { row: b }: Sighted<Escrow>): number =>
  a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : a.address < b.address ? -1 : 1;

const byTime = (a: SettlementEvent, b: SettlementEvent): number =>
  a.occurredAt < b.occurredAt ? -1 : a.occurredAt > b.occurredAt ? 1 : a.id < b.id ? -1 : 1;

const eventsOfAll = (rows: ReadonlyArray<Sighted<Escrow>>): ReadonlyArray<SettlementEvent> =>
  rows.flatMap(({ row }) => eventsOf(row)).sort(byTime);

/** What a sync did with the accounts of one kind, while it goes on. */
class KindTally {
  /** Valid accounts, each once. */
  readonly valid = new AddressFingerprints();
  rejected = 0;
  created = 0;
  updated = 0;

  /** Goes on with what an earlier tally counted, its valid accounts apart. */
  constructor(earlier?: KindTally) {
    this.rejected = earlier?.rejected ?? 0;
    this.created = earlier?.created ?? 0;
    this.updated = earlier?.updated ?? 0;
  }

  changed(changes: RowChanges): void {
    this.created += changes.created;
    this.updated += changes.updated;
  }

  get counts(): SyncCounts {
    const { created, updated, rejected, valid } = this;
    const unchanged = Math.max(0, valid.size - created - updated);
    return { seen: valid.size + rejected, created, updated, unchanged, rejected };
  }
}

/** Decodes the accounts that a sync reads, applies them to the index and counts. An account may come again. */
export class IndexAccounts {
  readonly escrows: KindTally;
  readonly merchants: KindTally;
  readonly rejected: Array<RejectedAccount>;
  eventsAdded: number;
  readonly #deployment: Deployment;
  readonly #rejections: AddressFingerprints;
  #escrows: Array<Sighted<Escrow>> = [];
  #merchants: Array<Sighted<Merchant>> = [];

  /** Goes on with what the same sync has counted `earlier`, valid accounts apart: those it is to see all by itself. */
  constructor(deployment: Deployment, earlier?: IndexAccounts) {
    this.#deployment = deployment;
    this.escrows = new KindTally(earlier?.escrows);
    this.merchants = new KindTally(earlier?.merchants);
    this.rejected = [...(earlier?.rejected ?? [])];
    this.eventsAdded = earlier?.eventsAdded ?? 0;
    this.#rejections = earlier === undefined ? new AddressFingerprints() : earlier.#rejections;
  }

  /** How many accounts of either kind have come. */
  get seen(): number {
    return this.escrows.counts.seen + this.merchants.counts.seen;
  }

  /** How many decoded rows wait to be written. */
  get waiting(): number {
    return this.#escrows.length + this.#merchants.length;
  }

  /**
   * Decodes accounts read at `slot`; those that pass every check wait to be written. Accounts of other programs
   * are passed over, unless they came as those of `program`: then the answer was wrong about them,
   * and they are rejected.
   */
  gather(slot: bigint, accounts: ReadonlyArray<LedgerAccount>, program?: Address): void {
    for (const account of accounts) {
      const { address } = account;
      if (program !== undefined && account.owner !== program) {
        const isEscrows = program === this.#deployment.custodyProgram;
        this.#reject(isEscrows ? this.escrows : this.merchants, address, "wrong_owner");
        continue;
      }
      const read = readProgramAccount(account, this.#deployment);
      // An archived escrow says nothing that its row does not say.
      if (read === null || read.kind === "archived_escrow") continue;
      if (read.kind === "escrow")
        this.#sort(this.escrows, address, read.decoded, (row) => this.#escrows.push({ row, slot }));
      else
        this.#sort(this.merchants, address, read.decoded, (row) =>
          this.#merchants.push({ row, slot }),
        );
    }
  }

  /** Applies the rows that wait, in one store transaction with what else is given. */
  write(
    rest: {
      readonly references?: ReadonlyArray<EventReference>;
      readonly mark?: SyncMark | null;
    } = {},
  ) {
    // Stores keep escrows by time: rows that come in that order are written next to one another.
    const escrows = this.#escrows.sort(byCreation);
    const merchants = this.#merchants;
    this.#escrows = [];
    this.#merchants = [];
    return EscrowIndex.use((index) =>
      index.apply({
        escrows,
        merchants,
        events: eventsOfAll(escrows),
        references: rest.references ?? [],
        mark: rest.mark ?? null,
      }),
    ).pipe(
      Effect.tap((result) =>
        Effect.sync(() => {
          this.escrows.changed(result.escrows);
          this.merchants.changed(result.merchants);
          this.eventsAdded += result.eventsAdded;
        }),
      ),
    );
  }

  #sort<Row>(
    tally: KindTally,
    address: Address,
    decoded: Decoded<Row>,
    keep: (row: Row) => void,
  ): void {
    if ("value" in decoded) {
      tally.valid.add(address);
      keep(decoded.value);
      return;
    }
    this.#reject(tally, address, decoded.fault);
  }

  #reject(tally: KindTally, address: Address, fault: AccountFault): void {
    if (!this.#rejections.add(address)) return;
    tally.rejected += 1;
    if (this.rejected.length < MAX_REJECTED_NAMED) this.rejected.push({ address, fault });
  }
}

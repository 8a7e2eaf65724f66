import { Effect } from "effect";
import { AddressFingerprints } from "../../../domain/address-fingerprints.ts";
import type { Address } from "../../../domain/address.ts";
import type { Deployment } from "../../../domain/ledger/deployment.ts";
import type { Escrow } from "../../../domain/escrow/escrow.ts";
import type { AccountFault, Decoded, LedgerAccount } from "../../../domain/ledger/account.ts";
import type { Merchant } from "../../../domain/merchant/merchant.ts";
import {
  type EventReference,
  eventsOf,
  type SettlementEvent,
} from "../../../domain/index/settlement-event.ts";
import type { RejectedAccount, SyncCounts } from "../../../domain/index/sync-report.ts";
import { readProgramAccount } from "../../../protocol/accounts/program-account.ts";
import type { FoundTombstone } from "./unseen-escrows.ts";
import {
  EscrowIndex,
  type RowChanges,
  type Observed,
  type SyncCheckpoint,
} from "../../../../ports/escrow-index.ts";

/** The most rejected accounts that a report names. All are counted. */
const MAX_REJECTED_NAMED = 100;

const byCreation = ({ row: a }: Observed<Escrow>, { row: b }: Observed<Escrow>): number =>
  a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : a.address < b.address ? -1 : 1;

const byTime = (a: SettlementEvent, b: SettlementEvent): number =>
  a.occurredAt < b.occurredAt ? -1 : a.occurredAt > b.occurredAt ? 1 : a.id < b.id ? -1 : 1;

const eventsOfAll = (rows: ReadonlyArray<Observed<Escrow>>): ReadonlyArray<SettlementEvent> =>
  rows.flatMap(({ row }) => eventsOf(row)).sort(byTime);

/** What a running sync has done with one kind of account. */
class KindTally {
  /** Valid accounts, each once. */
  readonly valid = new AddressFingerprints();
  rejected = 0;
  created = 0;
  updated = 0;

  /** Continues an earlier tally, except for its valid accounts. */
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

/**
 * Decodes the accounts that a sync reads, counts them, and writes them to the index. An account may come more than
 * once.
 */
export class IndexAccounts {
  readonly escrows: KindTally;
  readonly merchants: KindTally;
  readonly rejected: Array<RejectedAccount>;
  eventsAdded: number;
  readonly #deployment: Deployment;
  readonly #rejections: AddressFingerprints;
  #escrows: Array<Observed<Escrow>> = [];
  #merchants: Array<Observed<Merchant>> = [];
  #archived: Array<FoundTombstone> = [];

  /**
   * Continues the counts of `earlier`, of the same sync, except for valid accounts: the new pass reads all of them
   * itself.
   */
  constructor(deployment: Deployment, earlier?: IndexAccounts) {
    this.#deployment = deployment;
    this.escrows = new KindTally(earlier?.escrows);
    this.merchants = new KindTally(earlier?.merchants);
    this.rejected = [...(earlier?.rejected ?? [])];
    this.eventsAdded = earlier?.eventsAdded ?? 0;
    this.#rejections = earlier === undefined ? new AddressFingerprints() : earlier.#rejections;
  }

  /** Accounts of both kinds read so far. */
  get seen(): number {
    return this.escrows.counts.seen + this.merchants.counts.seen;
  }

  /** Decoded rows that are not written yet. */
  get waiting(): number {
    return this.#escrows.length + this.#merchants.length;
  }

  /**
   * Decodes accounts read at `slot` and keeps the valid ones for `write`. Accounts of other programs are skipped. But
   * when the accounts were asked for as those of `program`, an account of another owner is a wrong answer, and
   * rejected.
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
      if (read === null) continue;
      if (read.kind === "archived_escrow")
        this.#archived.push({ address, tombstone: read.decoded.value, slot });
      else if (read.kind === "escrow")
        this.#sort(this.escrows, address, read.decoded, (row) => this.#escrows.push({ row, slot }));
      else
        this.#sort(this.merchants, address, read.decoded, (row) =>
          this.#merchants.push({ row, slot }),
        );
    }
  }

  /** The tombstones gathered since the last call. */
  takeArchived(): ReadonlyArray<FoundTombstone> {
    const found = this.#archived;
    this.#archived = [];
    return found;
  }

  /** Counts an archived escrow that the index holds already. */
  holds(address: Address): void {
    this.escrows.valid.add(address);
  }

  /** Keeps an archived escrow whose tombstone was read at `slot` for `write`. */
  add(row: Escrow, slot: bigint): void {
    this.escrows.valid.add(row.address);
    this.#escrows.push({ row, slot });
  }

  /** Writes the kept rows and the given extras in one store transaction. */
  write(
    rest: {
      readonly references?: ReadonlyArray<EventReference>;
      readonly checkpoint?: SyncCheckpoint | null;
    } = {},
  ) {
    // Stores keep escrows by time, so rows in that order are written side by side.
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
        checkpoint: rest.checkpoint ?? null,
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

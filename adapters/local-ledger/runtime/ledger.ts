import type { Database } from "bun:sqlite";
import { addressFromBytes } from "../../../core/domain/address.ts";
import { accountReader } from "./accounts/account-reader.ts";
import { accountStore } from "./accounts/account-store.ts";
import {
  blockhashQueue,
  type Commitment,
  type LedgerTime,
  manualTime,
  MAX_PROCESSING_AGE,
  SLOT_MS,
  slotClock,
  slots,
  wallTime,
} from "./time/slots.ts";
import { openLedgerDatabase } from "./ledger-database.ts";
import { prioritizationFees } from "./transactions/transaction-fee.ts";
import { replayGuard, transactionRunner } from "./transactions/transaction-runner.ts";
import { slotSysvars } from "./accounts/sysvars.ts";
import { transactionLog } from "./transactions/transaction-log.ts";
import { createVirtualMachine } from "./virtual-machine.ts";

/** The content of a ledger's first block, and how far in the past it lies. */
export type Genesis = {
  /** Milliseconds by which the ledger's time begins before its first start. */
  readonly ageMs: number;
  /** Fills the new ledger. `advance` moves its clock ahead by milliseconds. All or nothing is kept. */
  readonly fill: (ledger: LocalLedger, advance: (ms: number) => void) => void;
};

/** The options of a ledger. */
export type LedgerOptions = {
  readonly directory: string;
  readonly genesis: Genesis;
  /** Milliseconds of a slot, 400 by default. */
  readonly slotMs?: number;
  /** Slots between `confirmed` and `finalized`, 0 by default. */
  readonly finalitySlots?: number;
  /** Milliseconds by which wall time moves ahead at this start, 0 by default. A later start goes on from there. */
  readonly skipMs?: number;
  /** The ledger's time after its genesis; wall time by default. */
  readonly time?: LedgerTime;
};

type Identity = {
  readonly genesis_hash: Uint8Array;
  readonly genesis_ms: bigint;
  /** A time that the ledger has reached. After a restart its clock starts no earlier. */
  readonly seen_ms: bigint;
};

const identityOf = (database: Database): Identity | null =>
  database.query<Identity, []>("select * from identity").get();

const noteTime = (database: Database, time: LedgerTime): void =>
  void database
    .query("update identity set seen_ms = max(seen_ms, ?1)")
    .run(Math.floor(time.nowMs()));

const assemble = (
  database: Database,
  identity: Identity,
  time: LedgerTime,
  { slotMs = SLOT_MS, finalitySlots = 0 }: LedgerOptions,
) => {
  const vm = createVirtualMachine();
  const accounts = accountStore(database);
  for (const row of accounts.all()) vm.writeRaw(row.address, row.owner, row.state);

  const log = transactionLog(database);
  const clock = slotClock(Number(identity.genesis_ms), time, slotMs);
  const ledgerSlots = slots(clock, finalitySlots);
  const blockhashes = blockhashQueue(identity.genesis_hash);
  const sysvars = slotSysvars(clock, blockhashes, vm.minimumBalance);
  const replays = replayGuard(log, clock.currentSlot());
  const runner = transactionRunner({
    vm,
    database,
    accounts,
    log,
    slots: ledgerSlots,
    sysvars,
    blockhashes,
    replays,
  });
  return {
    genesisHash: addressFromBytes(identity.genesis_hash),
    clock,
    slots: ledgerSlots,
    log,
    accounts: accountReader(vm, accounts, ledgerSlots, sysvars),
    prioritizationFees: prioritizationFees(log),
    minimumBalance: vm.minimumBalance,
    submit: runner.submit,
    simulate: runner.simulate,
    transactionCount: runner.count,
    isBlockhashUsable: (blockhash: string): boolean =>
      blockhashes.isUsable(blockhash, ledgerSlots.current()),
    /** The hash of the block of a slot. */
    blockhash: blockhashes.hash,
    /** The newest block's hash at a commitment, and the last block height at which it can be used. */
    latestBlockhash: (commitment: Commitment = "confirmed") => {
      const block = Math.min(ledgerSlots.current() - 1, ledgerSlots.visible(commitment));
      return {
        blockhash: blockhashes.hash(block),
        lastValidBlockHeight: block + MAX_PROCESSING_AGE,
      };
    },
    /** Sets an account without a transaction; for the genesis only. */
    plant: (address: Parameters<typeof vm.write>[0], state: Parameters<typeof vm.write>[1]) => {
      vm.write(address, state);
      accounts.write(address, state);
    },
    close: (): void => {
      noteTime(database, time);
      database.close();
    },
  };
};

/** A Solana ledger in this process, its state in SQLite. */
export type LocalLedger = ReturnType<typeof assemble>;

/**
 * Opens the ledger of a directory with everything it has acknowledged, or makes a new one. @throws Error when another
 * process holds it, it is damaged, or its genesis fails.
 */
export const openLedger = (options: LedgerOptions): LocalLedger => {
  const database = openLedgerDatabase(options.directory);
  const slotMs = options.slotMs ?? SLOT_MS;
  const skipMs = options.skipMs ?? 0;
  const timeAfter = (reachedMs: number): LedgerTime =>
    options.time ?? wallTime(Math.max(reachedMs, Date.now()) + skipMs);
  const identity = identityOf(database);
  if (identity !== null) {
    const lastMs =
      Number(identity.genesis_ms) + (transactionLog(database).last().slot + 1) * slotMs;
    const time = timeAfter(Math.max(lastMs, Number(identity.seen_ms)));
    noteTime(database, time);
    const ledger = assemble(database, identity, time, options);
    ledger.slots.settle();
    return ledger;
  }
  const nowMs = options.time?.nowMs() ?? Date.now();
  const past = manualTime(Math.floor(nowMs - options.genesis.ageMs));
  let time: LedgerTime = past;
  return database.transaction(() => {
    const identity = {
      genesis_hash: crypto.getRandomValues(new Uint8Array(32)),
      genesis_ms: BigInt(past.nowMs()),
      seen_ms: BigInt(past.nowMs()),
    };
    database
      .query("insert into identity (genesis_hash, genesis_ms, seen_ms) values (?1, ?2, ?2)")
      .run(identity.genesis_hash, identity.genesis_ms);
    const ledger = assemble(database, identity, { nowMs: () => time.nowMs() }, options);
    // A transaction can name block 0's hash only after the block is over.
    past.advance(slotMs);
    options.genesis.fill(ledger, past.advance);
    past.advance(slotMs);
    time = timeAfter(past.nowMs());
    noteTime(database, time);
    ledger.slots.settle();
    return ledger;
  })();
};

import type { Database } from "bun:sqlite";
import type { Address } from "../../../../core/domain/address.ts";
import type { WireTransaction } from "../../../../core/protocol/transaction/wire-transaction.ts";
import { type AccountKeys, resolveAccountKeys } from "../accounts/account-keys.ts";
import {
  type AccountState,
  type AccountStore,
  sameAccountState,
} from "../accounts/account-store.ts";
import type { slotSysvars } from "../accounts/sysvars.ts";
import { tokenBalances } from "../accounts/token-balance.ts";
import { type BlockhashQueue, MAX_PROCESSING_AGE, type Slots } from "../time/slots.ts";
import type { Execution, VirtualMachine } from "../virtual-machine.ts";
import { isCharged, loadedDataLimit, loadedDataSize, wasExecuted } from "./loaded-data.ts";
import type { TransactionErrorJson } from "./transaction-error.ts";
import { transactionFee } from "./transaction-fee.ts";
import {
  innerInstructionsOf,
  memoOf,
  returnDataOf,
  type TransactionLog,
  type TransactionMeta,
} from "./transaction-log.ts";

const keyOf = (message: Uint8Array): string =>
  Buffer.from(Bun.SHA256.hash(message).buffer).toString("latin1");

/** The signed part of a landed transaction. It has fewer than 128 signatures, so one byte counts them. */
const messageOf = (wire: Uint8Array): Uint8Array => wire.subarray(1 + 64 * (wire[0] ?? 0));

/**
 * Keeps the messages of the last 150 blocks. Older ones are refused for their blockhash, so no message can run twice.
 * Compares messages, like Agave's status cache, because one message can have many signatures.
 */
export const replayGuard = (log: TransactionLog, currentSlot: number) => {
  const slotOf = new Map<string, number>();
  for (const { wire, slot } of log.since(currentSlot - MAX_PROCESSING_AGE - 1))
    slotOf.set(keyOf(messageOf(wire)), slot);
  return {
    hasSeen: (message: Uint8Array): boolean => slotOf.has(keyOf(message)),
    record: (message: Uint8Array, slot: number): void => {
      slotOf.set(keyOf(message), slot);
      for (const [key, old] of slotOf) {
        if (old >= slot - MAX_PROCESSING_AGE) break;
        slotOf.delete(key);
      }
    },
  };
};

/** See `replayGuard`. */
type ReplayGuard = ReturnType<typeof replayGuard>;

/**
 * The fee of a simulated transaction, null when nothing would be charged, and the balances of its accounts before
 * and after it (Agave `runtime/src/bank.rs`: `simulate_transaction_unchecked`).
 */
const simulationBalances = (
  transaction: WireTransaction,
  read: (address: Address) => AccountState | undefined,
  run: {
    /** The accounts that it names, after it ran; empty when it fails. */
    readonly after: ReadonlyMap<Address, AccountState>;
    readonly charged: boolean;
  },
) => {
  const keys = resolveAccountKeys(transaction, read);
  const fee = run.charged ? transactionFee(transaction) : null;
  const pre = keys.all.map(read);
  const readAfter = (address: Address) => run.after.get(address) ?? read(address);
  const post = keys.all.map((address) => {
    const state = readAfter(address);
    const pays = run.after.size === 0 && address === transaction.feePayer;
    return state !== undefined && pays
      ? { ...state, lamports: state.lamports - (fee ?? 0n) }
      : state;
  });
  return {
    fee,
    preBalances: pre.map((state) => state?.lamports ?? 0n),
    postBalances: post.map((state) => state?.lamports ?? 0n),
    preTokenBalances: tokenBalances(pre, read),
    postTokenBalances: tokenBalances(post, readAfter),
    loadedAddresses: keys.loaded,
  };
};

/** The result of a transaction. It landed, with or without an error, or it was dropped without cost. */
type Submission = {
  readonly landed: boolean;
  readonly error: TransactionErrorJson | undefined;
};

const TOO_MUCH_DATA = "MaxLoadedAccountsDataSizeExceeded";

type States = ReadonlyArray<AccountState | undefined>;

/** Runs transactions: makes the checks that LiteSVM leaves out, stores the changes and writes the log. */
export const transactionRunner = (parts: {
  readonly vm: VirtualMachine;
  readonly database: Database;
  readonly accounts: AccountStore;
  readonly log: TransactionLog;
  readonly slots: Slots;
  readonly sysvars: ReturnType<typeof slotSysvars>;
  readonly blockhashes: BlockhashQueue;
  readonly replays: ReplayGuard;
}) => {
  const { vm, slots, log } = parts;
  let position = log.last().position;
  let sysvarsSetFor = -1;
  const programs = new Map<Address, AccountState>();

  const enterSlot = (): number => {
    const slot = slots.current();
    if (slot !== sysvarsSetFor)
      for (const [address, state] of parts.sysvars.all(slot)) vm.write(address, state);
    sysvarsSetFor = slot;
    return slot;
  };

  /**
   * An account that the transaction cannot write. For a program, whose data can be 100 KB, only the fields of the meta.
   */
  const readUnwritten = (address: Address): AccountState | undefined => {
    const program = programs.get(address);
    if (program !== undefined) return { ...program, lamports: vm.balance(address) };
    const state = vm.read(address);
    if (state?.executable === true) programs.set(address, { ...state, data: new Uint8Array() });
    return state;
  };

  const refusal = (transaction: WireTransaction, slot: number): string | undefined => {
    if (!parts.blockhashes.isUsable(transaction.blockhash, slot)) return "BlockhashNotFound";
    return parts.replays.hasSeen(transaction.message) ? "AlreadyProcessed" : undefined;
  };

  /** LiteSVM does not count the ProgramData of a program it loads, so the limit a message sets is checked here. */
  const loadsTooMuch = (transaction: WireTransaction): boolean => {
    const limit = loadedDataLimit(transaction);
    return limit !== undefined && loadedDataSize(transaction, vm.read) > limit;
  };

  const metaOf = (
    transaction: WireTransaction,
    { error, metadata }: Execution,
    keys: AccountKeys,
    pre: States,
    post: States,
  ): TransactionMeta => {
    const returnData = returnDataOf(metadata);
    return {
      err: error ?? null,
      status: error === undefined ? { Ok: null } : { Err: error },
      fee: transactionFee(transaction),
      preBalances: pre.map((state) => state?.lamports ?? 0n),
      postBalances: post.map((state) => state?.lamports ?? 0n),
      innerInstructions: innerInstructionsOf(metadata),
      logMessages: metadata.logs(),
      preTokenBalances: tokenBalances(pre, vm.read),
      postTokenBalances: tokenBalances(post, vm.read),
      rewards: [],
      loadedAddresses: keys.loaded,
      computeUnitsConsumed: metadata.computeUnitsConsumed(),
      ...(returnData === undefined ? {} : { returnData }),
    };
  };

  const submit = (transaction: WireTransaction): Submission => {
    const slot = enterSlot();
    const refused = refusal(transaction, slot);
    if (refused !== undefined) return { landed: false, error: refused };
    if (loadsTooMuch(transaction)) return { landed: false, error: TOO_MUCH_DATA };
    const keys = resolveAccountKeys(transaction, vm.read);
    const pre = keys.all.map((key, i) => (keys.isWritable(i) ? vm.read(key) : readUnwritten(key)));
    const execution = vm.execute(transaction);
    const post = keys.all.map((key, i) => (keys.isWritable(i) ? vm.read(key) : pre[i]));
    const former = new Map<Address, AccountState | undefined>();
    const changed = new Map<Address, AccountState | undefined>();
    keys.all.forEach((key, i) => {
      if (sameAccountState(pre[i], post[i])) return;
      former.set(key, pre[i]);
      changed.set(key, post[i]);
    });
    // A transaction that fails before it is loaded pays no fee and enters no block.
    if (execution.error !== undefined && changed.size === 0)
      return { landed: false, error: execution.error };

    const meta = metaOf(transaction, execution, keys, pre, post);
    const { signature, bytes: wire } = transaction;
    const error = execution.error ?? null;
    const memo = memoOf(transaction);
    try {
      parts.database.transaction(() => {
        for (const [address, state] of changed) parts.accounts.write(address, state);
        log.append({ position: position + 1, slot, signature, wire, error, memo, meta }, keys.all);
      })();
    } catch (cause) {
      // The write failed: undo the changes, so that no answer shows what a restart would lose.
      for (const [address, state] of former) vm.write(address, state);
      throw cause;
    }
    position += 1;
    parts.replays.record(transaction.message, slot);
    const landed = { slot, signature, error, logs: meta.logMessages, accounts: keys.all, changed };
    slots.landed(landed, former);
    return { landed: true, error: execution.error };
  };

  return {
    submit,
    /** The number of landed transactions. */
    count: (): number => position,
    /**
     * Runs a transaction on the newest state without keeping its effects. `lifetime` includes the checks of
     * blockhash and replay.
     */
    simulate: (
      transaction: WireTransaction,
      checks: { readonly signatures: boolean; readonly lifetime: boolean },
    ) => {
      const slot = enterSlot();
      const refused = checks.lifetime ? refusal(transaction, slot) : undefined;
      const run = vm.simulate(transaction, checks.signatures);
      const ran = refused === undefined && wasExecuted(transaction, run.error, run.metadata.logs());
      const executed = ran && !loadsTooMuch(transaction);
      const error = refused ?? (ran && !executed ? TOO_MUCH_DATA : run.error);
      const charged = isCharged(error, executed);
      const after: typeof run.after = error === undefined ? run.after : new Map();
      return {
        metadata: run.metadata,
        after,
        slot,
        error,
        badSignature: run.error === "SignatureFailure",
        /** Whether it reached its first instruction. */
        executed,
        balances: () => simulationBalances(transaction, vm.read, { after, charged }),
        /** 0 unless it was executed; for one that was only charged, the fee payer's data. */
        loadedAccountsDataSize: () =>
          executed
            ? loadedDataSize(transaction, vm.read)
            : charged
              ? (vm.read(transaction.feePayer)?.data.length ?? 0)
              : 0,
      };
    },
  };
};

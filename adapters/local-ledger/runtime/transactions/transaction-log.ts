import type { Database } from "bun:sqlite";
import type { TransactionMetadata } from "litesvm/dist/internal.js";
import { type Address, addressFromBytes, addressToBytes } from "../../../../core/domain/address.ts";
import { decodeBase58, encodeBase58 } from "../../../../core/domain/encoding/base58.ts";
import {
  type LedgerSignature,
  ledgerSignatureFromBytes,
} from "../../../../core/domain/ledger/signature.ts";
import { MEMO_PROGRAM } from "../../../../core/protocol/addresses/well-known-addresses.ts";
import type { WireMessage } from "../../../../core/protocol/transaction/wire-transaction.ts";
import type { TokenBalance } from "../accounts/token-balance.ts";
import { decodeJson, encodeJson } from "../json-text.ts";
import type { TransactionErrorJson } from "./transaction-error.ts";

const MEMO_PROGRAMS: ReadonlySet<string> = new Set([
  MEMO_PROGRAM,
  "Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo",
]);

/** A transaction's memos as signature lists show them: `[length] text; ...`. Null without any. */
export const memoOf = (message: WireMessage): string | null => {
  const memos = message.instructions
    .filter(({ program }) => MEMO_PROGRAMS.has(program))
    .map(({ data }) => `[${data.length}] ${new TextDecoder().decode(data)}`);
  return memos.length === 0 ? null : memos.join("; ");
};

/** The instructions that one top-level instruction called, in order. */
export type InnerInstructions = {
  readonly index: number;
  readonly instructions: ReadonlyArray<{
    readonly programIdIndex: number;
    readonly accounts: ReadonlyArray<number>;
    /** base58 */
    readonly data: string;
    readonly stackHeight: number;
  }>;
};

/** The data of the last program that returned any. */
type ReturnData = {
  readonly programId: Address;
  readonly data: readonly [base64: string, encoding: "base64"];
};

/** A transaction's `meta` in Agave's JSON form (`UiTransactionStatusMeta`). */
export type TransactionMeta = {
  readonly err: TransactionErrorJson | null;
  readonly status: { readonly Ok: null } | { readonly Err: TransactionErrorJson };
  readonly fee: bigint | number;
  readonly preBalances: ReadonlyArray<bigint | number>;
  readonly postBalances: ReadonlyArray<bigint | number>;
  readonly innerInstructions: ReadonlyArray<InnerInstructions>;
  readonly logMessages: ReadonlyArray<string>;
  readonly preTokenBalances: ReadonlyArray<TokenBalance>;
  readonly postTokenBalances: ReadonlyArray<TokenBalance>;
  readonly rewards: readonly [];
  readonly loadedAddresses: {
    readonly writable: ReadonlyArray<Address>;
    readonly readonly: ReadonlyArray<Address>;
  };
  readonly computeUnitsConsumed: bigint | number;
  readonly returnData?: ReturnData;
};

/** For each top-level instruction that called any: the instructions it called. */
export const innerInstructionsOf = (
  metadata: TransactionMetadata,
): ReadonlyArray<InnerInstructions> =>
  metadata.innerInstructions().flatMap((calls, index) =>
    calls.length === 0
      ? []
      : [
          {
            index,
            instructions: calls.map((call) => {
              const instruction = call.instruction();
              return {
                programIdIndex: instruction.programIdIndex(),
                accounts: [...instruction.accounts()],
                data: encodeBase58(instruction.data()),
                stackHeight: call.stackHeight(),
              };
            }),
          },
        ],
  );

/** The transaction's return data, undefined when it returned none. */
export const returnDataOf = (metadata: TransactionMetadata): ReturnData | undefined => {
  const returned = metadata.returnData();
  const data = returned.data();
  if (data.length === 0) return undefined;
  return {
    programId: addressFromBytes(returned.programId()),
    data: [Buffer.from(data).toString("base64"), "base64"],
  };
};

/** A logged transaction without its content. */
export type LoggedSignature = {
  /** The transaction's number on this ledger, from 1. */
  readonly position: number;
  readonly slot: number;
  readonly signature: LedgerSignature;
  readonly error: TransactionErrorJson | null;
  readonly memo: string | null;
};

/** A landed transaction. */
export type LoggedTransaction = LoggedSignature & {
  readonly wire: Uint8Array;
  readonly meta: TransactionMeta;
};

type Row = {
  readonly position: bigint;
  readonly slot: bigint;
  readonly signature: Uint8Array;
  readonly error: string | null;
  readonly memo: string | null;
};
type FullRow = Row & { readonly wire: Uint8Array; readonly meta: string };

const signatureBytes = (signature: LedgerSignature): Uint8Array =>
  decodeBase58(signature, 64) ?? new Uint8Array();

const summary = (row: Row): LoggedSignature => ({
  position: Number(row.position),
  slot: Number(row.slot),
  signature: ledgerSignatureFromBytes(row.signature),
  error: row.error === null ? null : (JSON.parse(row.error) as TransactionErrorJson),
  memo: row.memo,
});

const whole = (row: FullRow): LoggedTransaction => ({
  ...summary(row),
  wire: row.wire,
  meta: decodeJson(row.meta) as TransactionMeta,
});

const BRIEF = "position, slot, signature, error, memo";

/** The landed transactions, in order, in the ledger's database. */
export const transactionLog = (database: Database) => {
  const insert = database.query<
    null,
    [number, number, Uint8Array, Uint8Array, string | null, string | null, string]
  >(
    `insert into ledger_transaction (position, slot, signature, wire, error, memo, meta)
     values (?1, ?2, ?3, ?4, ?5, ?6, ?7)`,
  );
  const insertAddress = database.query<null, [Uint8Array, number]>(
    "insert or ignore into address_transaction (address, position) values (?1, ?2)",
  );
  const brief = database.query<Row, [Uint8Array]>(
    `select ${BRIEF} from ledger_transaction where signature = ?1`,
  );
  const full = database.query<FullRow, [Uint8Array]>(
    "select * from ledger_transaction where signature = ?1",
  );
  const ofSlot = database.query<FullRow, [number]>(
    "select * from ledger_transaction where slot = ?1 order by position",
  );
  const slotsUpTo = database.query<{ slot: bigint }, [number, number]>(
    "select distinct slot from ledger_transaction where slot <= ?1 order by slot desc limit ?2",
  );
  const ofAddress = database.query<Row, [Uint8Array, number, number, number, number]>(
    `select ${BRIEF} from address_transaction join ledger_transaction using (position)
     where address = ?1 and position < ?2 and position > ?3 and slot <= ?4
     order by position desc limit ?5`,
  );
  const last = database.query<{ position: bigint; slot: bigint }, []>(
    "select position, slot from ledger_transaction order by position desc limit 1",
  );
  const since = database.query<{ wire: Uint8Array; slot: bigint }, [number]>(
    "select wire, slot from ledger_transaction where slot >= ?1 order by position",
  );

  return {
    append: (transaction: LoggedTransaction, accounts: ReadonlyArray<Address>): void => {
      const { position, slot, signature, wire, error, memo, meta } = transaction;
      const errorText = error === null ? null : encodeJson(error);
      insert.run(
        position,
        slot,
        signatureBytes(signature),
        wire,
        errorText,
        memo,
        encodeJson(meta),
      );
      for (const account of accounts) insertAddress.run(addressToBytes(account), position);
    },
    /** The newest transaction's position and slot; position 0 on an empty ledger. */
    last: (): { readonly position: number; readonly slot: number } => {
      const row = last.get();
      return { position: Number(row?.position ?? 0n), slot: Number(row?.slot ?? 0n) };
    },
    /** The bytes and slots of the transactions since a slot. */
    since: (slot: number): ReadonlyArray<{ readonly wire: Uint8Array; readonly slot: number }> =>
      since.all(slot).map((row) => ({ wire: row.wire, slot: Number(row.slot) })),
    find: (signature: LedgerSignature): LoggedSignature | undefined => {
      const row = brief.get(signatureBytes(signature));
      return row === null ? undefined : summary(row);
    },
    read: (signature: LedgerSignature): LoggedTransaction | undefined => {
      const row = full.get(signatureBytes(signature));
      return row === null ? undefined : whole(row);
    },
    /** The transactions of one slot, in the order they landed. */
    ofSlot: (slot: number): ReadonlyArray<LoggedTransaction> => ofSlot.all(slot).map(whole),
    /** The newest slots, at most `limit`, up to a slot that hold a transaction, newest first. */
    slotsUpTo: (slot: number, limit: number): ReadonlyArray<number> =>
      slotsUpTo.all(slot, limit).map((row) => Number(row.slot)),
    /** Transactions that name an account, newest first, strictly between two positions, up to a slot. */
    ofAddress: (
      address: Address,
      range: {
        readonly before: number;
        readonly after: number;
        readonly maxSlot: number;
        readonly limit: number;
      },
    ): ReadonlyArray<LoggedSignature> =>
      ofAddress
        .all(addressToBytes(address), range.before, range.after, range.maxSlot, range.limit)
        .map(summary),
  };
};

/** See `transactionLog`. */
export type TransactionLog = ReturnType<typeof transactionLog>;

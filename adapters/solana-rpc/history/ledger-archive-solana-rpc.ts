import { Effect, Layer, Schema } from "effect";
import { type Address, parseAddress } from "../../../core/domain/address.ts";
import type {
  ExecutedInstruction,
  HistoryEntry,
  LedgerTransaction,
} from "../../../core/domain/ledger/history.ts";
import {
  type LedgerSignature,
  parseLedgerSignature,
} from "../../../core/domain/ledger/signature.ts";
import { type ArchivePage, LedgerArchive } from "../../../ports/ledger/ledger-archive.ts";
import { LedgerUnavailable } from "../../../ports/ledger/ledger.ts";
import { refusalAsUnavailable } from "../pool/fail-over.ts";
import { mayNotOffer, optionalMethod } from "../pool/optional-method.ts";
import { NodePool } from "../pool/node-pool.ts";
import type { RpcRequest } from "../pool/pooled-node.ts";
import { decodeBase58OfAnyLength } from "../transport/base64-bytes.ts";
import { parseTransactionError } from "./transaction-json.ts";

/** Agave `rpc-client-types`, `RpcConfirmedTransactionStatusWithSignature`. */
const isEntries = Schema.is(
  Schema.Array(
    Schema.Struct({
      signature: Schema.String,
      slot: Schema.Natural,
      err: Schema.Unknown,
    }),
  ),
);

/** Agave `transaction-status-client-types`, `UiCompiledInstruction`. */
const Instruction = Schema.Struct({
  programIdIndex: Schema.Natural,
  accounts: Schema.Array(Schema.Natural),
  data: Schema.String,
});

/** A result of getTransaction with `encoding: "json"` (Agave `EncodedConfirmedTransactionWithStatusMeta`). */
const isTransaction = Schema.is(
  Schema.Struct({
    slot: Schema.Natural,
    transaction: Schema.Struct({
      signatures: Schema.Array(Schema.String),
      message: Schema.Struct({
        header: Schema.Struct({ numRequiredSignatures: Schema.Natural }),
        accountKeys: Schema.Array(Schema.String),
        instructions: Schema.Array(Instruction),
      }),
    }),
    meta: Schema.Struct({
      err: Schema.Unknown,
      innerInstructions: Schema.optionalKey(
        Schema.NullOr(
          Schema.Array(
            Schema.Struct({ index: Schema.Natural, instructions: Schema.Array(Instruction) }),
          ),
        ),
      ),
      loadedAddresses: Schema.optionalKey(
        Schema.NullOr(
          Schema.Struct({
            writable: Schema.Array(Schema.String),
            readonly: Schema.Array(Schema.String),
          }),
        ),
      ),
    }),
  }),
);

/** The result of getSignaturesForAddress, newest first; undefined for any other JSON. */
export const parseHistory = (json: unknown): ReadonlyArray<HistoryEntry> | undefined => {
  if (!isEntries(json)) return undefined;
  const entries: Array<HistoryEntry> = [];
  for (const { signature: text, slot, err } of json) {
    const signature = parseLedgerSignature(text);
    if (signature === undefined) return undefined;
    const failed = err !== null;
    const error = failed ? (parseTransactionError(err) ?? null) : null;
    entries.push({ signature, slot: BigInt(slot), failed, ...(failed ? { error } : {}) });
  }
  return entries;
};

const parseAddresses = (texts: ReadonlyArray<string>): ReadonlyArray<Address> | undefined => {
  const parsed = texts.map(parseAddress);
  return parsed.every((one) => one !== undefined) ? parsed : undefined;
};

const parseInstruction = (
  { programIdIndex, accounts, data }: typeof Instruction.Type,
  keys: ReadonlyArray<Address>,
): ExecutedInstruction | undefined => {
  const program = keys[programIdIndex];
  const named = accounts.map((place) => keys[place]);
  const bytes = decodeBase58OfAnyLength(data);
  if (program === undefined || bytes === undefined) return undefined;
  return named.every((one) => one !== undefined)
    ? { program, accounts: named, data: bytes === "long" ? null : bytes }
    : undefined;
};

/** The result of getTransaction for this signature; null when there is none, undefined for any other JSON. */
export const parseTransaction = (
  signature: LedgerSignature,
  json: unknown,
): LedgerTransaction | null | undefined => {
  if (json === null) return null;
  if (!isTransaction(json)) return undefined;
  const { slot, meta, transaction } = json;
  if (transaction.signatures[0] !== signature) return undefined;
  const { header, accountKeys, instructions } = transaction.message;
  const accounts = parseAddresses([
    ...accountKeys,
    ...(meta.loadedAddresses?.writable ?? []),
    ...(meta.loadedAddresses?.readonly ?? []),
  ]);
  if (accounts === undefined) return undefined;
  const inner = meta.innerInstructions;
  const executed = [...instructions, ...(inner ?? []).flatMap((called) => called.instructions)].map(
    (instruction) => parseInstruction(instruction, accounts),
  );
  if (!executed.every((one) => one !== undefined)) return undefined;
  return {
    signature,
    slot: BigInt(slot),
    failed: meta.err !== null,
    signers: new Set(accounts.slice(0, header.numRequiredSignatures)),
    accounts,
    instructions: executed,
    hasCalls: inner !== null && inner !== undefined,
  };
};

/** Transactions of one answer: what every plan of the provider allows with all details. */
const PAGE = 100;

/** A page of getTransactionsForAddress with `transactionDetails: "full"` (Helius), undefined for other JSON. */
const parseArchivePage = (json: unknown): ArchivePage | undefined => {
  if (typeof json !== "object" || json === null) return undefined;
  const { data, paginationToken = null } = json as Readonly<Record<string, unknown>>;
  if (!Array.isArray(data)) return undefined;
  if (paginationToken !== null && typeof paginationToken !== "string") return undefined;
  const transactions: Array<LedgerTransaction> = [];
  for (const one of data as ReadonlyArray<unknown>) {
    const { transaction } = (one ?? {}) as {
      readonly transaction?: { readonly signatures?: unknown };
    };
    const [text] = Array.isArray(transaction?.signatures) ? transaction.signatures : [];
    const signature = typeof text === "string" ? parseLedgerSignature(text) : undefined;
    const parsed = signature === undefined ? undefined : parseTransaction(signature, one);
    if (parsed === undefined || parsed === null) return undefined;
    transactions.push(parsed);
  }
  return { transactions, next: paginationToken === "" ? null : paginationToken };
};

/** The LedgerArchive port over getTransactionsForAddress. Whether nodes offer it is found out by asking. */
export const ledgerArchiveSolanaRpc: Layer.Layer<LedgerArchive, never, NodePool> = Layer.effect(
  LedgerArchive,
  Effect.gen(function* () {
    const pool = yield* NodePool;
    const offering = optionalMethod();
    return {
      transactionsOf: Effect.fn("LedgerArchive.transactionsOf")(function* (address, cursor) {
        if (!(yield* offering.isWorthAsking)) return null;
        const request: RpcRequest<ArchivePage> = {
          method: "getTransactionsForAddress",
          params: [
            address,
            {
              transactionDetails: "full",
              sortOrder: "asc",
              limit: PAGE,
              encoding: "json",
              commitment: "finalized",
              maxSupportedTransactionVersion: 0,
              filters: { status: "succeeded" },
              ...(cursor === null ? {} : { paginationToken: cursor }),
            },
          ],
          decode: (result) => {
            const page = parseArchivePage(result);
            return page === undefined ? "malformed" : { value: page };
          },
        };
        const page = yield* pool.call(request).pipe(
          refusalAsUnavailable,
          Effect.catchIf(
            (failure) => !offering.isKnown && mayNotOffer(failure),
            () => Effect.succeed(null),
          ),
        );
        yield* offering.note(page !== null);
        if (page === null) return null;
        if (page.next !== null && page.next === cursor)
          return yield* new LedgerUnavailable({
            retryable: true,
            cause: new Error("a node's transactions stay at one cursor"),
          });
        return page;
      }),
    };
  }),
);

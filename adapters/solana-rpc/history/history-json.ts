import { Schema } from "effect";
import { type Address, parseAddress } from "../../../core/domain/address.ts";
import { decodeBase58OfAnyLength } from "../transport/base58-data.ts";
import type {
  ExecutedInstruction,
  HistoryEntry,
  LedgerTransaction,
} from "../../../core/domain/ledger/history.ts";
import {
  type LedgerSignature,
  parseLedgerSignature,
} from "../../../core/domain/ledger/signature.ts";

import { parseTransactionError } from "./transaction-error-json.ts";

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

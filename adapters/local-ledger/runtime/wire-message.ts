import {
  type CompiledTransactionMessage,
  type CompiledTransactionMessageWithLifetime,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
} from "@solana/kit";
import type { Address } from "../../../core/domain/address.ts";

/** One instruction, its accounts by index into the transaction's account keys. */
export type WireInstruction = {
  readonly programIndex: number;
  readonly accountIndexes: ReadonlyArray<number>;
  readonly data: Uint8Array;
};

/** Accounts that a version 0 message takes from one address lookup table. */
export type TableLookup = {
  readonly table: Address;
  readonly writableIndexes: ReadonlyArray<number>;
  readonly readonlyIndexes: ReadonlyArray<number>;
};

/** A legacy or version 0 message as it stands on the wire. */
export type WireMessage = {
  readonly version: "legacy" | 0;
  readonly header: {
    readonly numSignerAccounts: number;
    readonly numReadonlySignerAccounts: number;
    readonly numReadonlyNonSignerAccounts: number;
  };
  readonly staticAccounts: ReadonlyArray<Address>;
  readonly blockhash: string;
  readonly instructions: ReadonlyArray<WireInstruction>;
  readonly lookups: ReadonlyArray<TableLookup>;
};

const decoder = getCompiledTransactionMessageDecoder();
const encoder = getCompiledTransactionMessageEncoder();

const lookupsOf = (message: CompiledTransactionMessage): ReadonlyArray<TableLookup> =>
  message.version !== 0
    ? []
    : (message.addressTableLookups ?? []).map((lookup) => ({
        table: lookup.lookupTableAddress as string as Address,
        writableIndexes: lookup.writableIndexes,
        readonlyIndexes: lookup.readonlyIndexes,
      }));

/** The rules of Agave's `Message::sanitize`: what passes cannot make the virtual machine panic. */
const isSane = (message: WireMessage): boolean => {
  const { header, staticAccounts, instructions, lookups } = message;
  const loaded = lookups.reduce(
    (count, { writableIndexes, readonlyIndexes }) =>
      count + writableIndexes.length + readonlyIndexes.length,
    0,
  );
  const total = staticAccounts.length + loaded;
  return (
    header.numSignerAccounts + header.numReadonlyNonSignerAccounts <= staticAccounts.length &&
    header.numReadonlySignerAccounts < header.numSignerAccounts &&
    total <= 256 &&
    lookups.every((l) => l.writableIndexes.length + l.readonlyIndexes.length > 0) &&
    instructions.every(
      ({ programIndex, accountIndexes }) =>
        programIndex > 0 &&
        programIndex < staticAccounts.length &&
        accountIndexes.every((index) => index < total),
    )
  );
};

const fromCompiled = (
  message: CompiledTransactionMessage & CompiledTransactionMessageWithLifetime,
): WireMessage | undefined => {
  if (message.version !== "legacy" && message.version !== 0) return undefined;
  return {
    version: message.version,
    header: message.header,
    staticAccounts: message.staticAccounts as ReadonlyArray<string> as ReadonlyArray<Address>,
    blockhash: message.lifetimeToken,
    instructions: message.instructions.map((instruction) => ({
      programIndex: instruction.programAddressIndex,
      accountIndexes: instruction.accountIndices ?? [],
      data: new Uint8Array(instruction.data ?? []),
    })),
    lookups: lookupsOf(message),
  };
};

/**
 * The message that exactly these bytes encode, or undefined when they are no legacy or version 0
 * message, carry anything besides, or break a rule of Agave's sanitisation.
 */
export const decodeWireMessage = (bytes: Uint8Array): WireMessage | undefined => {
  try {
    const compiled = decoder.decode(bytes);
    if (Buffer.compare(bytes, new Uint8Array(encoder.encode(compiled))) !== 0) return undefined;
    const message = fromCompiled(compiled);
    return message !== undefined && isSane(message) ? message : undefined;
  } catch {
    return undefined;
  }
};

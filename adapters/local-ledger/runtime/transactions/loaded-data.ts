import type { Address } from "../../../../core/domain/address.ts";
import { fieldsOf } from "../../../../core/protocol/accounts/byte-fields.ts";
import {
  COMPUTE_BUDGET_PROGRAM,
  INSTRUCTIONS_SYSVAR,
  UPGRADEABLE_LOADER,
} from "../../../../core/protocol/addresses/well-known-addresses.ts";
import type { WireMessage } from "../../../../core/protocol/transaction/wire-transaction.ts";
import { resolveAccountKeys } from "../accounts/account-keys.ts";
import type { AccountState } from "../accounts/account-store.ts";
import type { TransactionErrorJson } from "./transaction-error.ts";

/** Bytes that SIMD-0186 counts for every account beside its data, and for every address table a message names. */
const ACCOUNT_BYTES = 64;
const ADDRESS_TABLE_BYTES = 8248;
/** Tag of a Program account of the upgradeable loader, u32 LE; its ProgramData's address follows. */
const PROGRAM = 2;
const PROGRAM_LENGTH = 36;

type Read = (address: Address) => AccountState | undefined;

const programDataOf = ({ owner, data }: AccountState): Address | undefined => {
  if (owner !== UPGRADEABLE_LOADER || data.length < PROGRAM_LENGTH) return undefined;
  const fields = fieldsOf(data);
  return fields.u32(0) === PROGRAM ? fields.address(4) : undefined;
};

/**
 * The bytes of accounts that a transaction loads (SIMD-0186; Agave `svm/src/account_loader.rs`): every account it
 * names that exists, every program's ProgramData once, every address table at its largest.
 */
export const loadedDataSize = (message: WireMessage, read: Read): number => {
  const keys = resolveAccountKeys(message, read).all;
  const counted = new Set<Address>(keys);
  const bytesOf = (address: Address): number => {
    const state = read(address);
    if (state === undefined || state.lamports === 0n) return 0;
    const programData = programDataOf(state);
    const bytes = ACCOUNT_BYTES + state.data.length;
    if (programData === undefined || counted.has(programData)) return bytes;
    counted.add(programData);
    return bytes + bytesOf(programData);
  };
  return keys
    .filter((address) => address !== INSTRUCTIONS_SYSVAR)
    .reduce((sum, address) => sum + bytesOf(address), message.tables.length * ADDRESS_TABLE_BYTES);
};

/**
 * The most bytes that a message lets itself load, undefined when it does not say (SetLoadedAccountsDataSizeLimit: u8 4,
 * u32 LE).
 */
export const loadedDataLimit = ({ instructions }: WireMessage): number | undefined => {
  const instruction = instructions.find(
    ({ program, data }) => program === COMPUTE_BUDGET_PROGRAM && data[0] === 4 && data.length >= 5,
  );
  return instruction === undefined ? undefined : fieldsOf(instruction.data).u32(1);
};

/**
 * Errors of transactions that pay a fee without running, because their faults are found only when accounts are loaded.
 */
const FEES_ONLY: ReadonlySet<TransactionErrorJson> = new Set([
  "ProgramAccountNotFound",
  "InvalidProgramForExecution",
  "MaxLoadedAccountsDataSizeExceeded",
]);

/** Whether a transaction with this error and these logs reached its first instruction. */
export const wasExecuted = (
  { instructions }: WireMessage,
  error: TransactionErrorJson | undefined,
  logs: ReadonlyArray<string>,
): boolean => {
  if (error === undefined || logs.length > 0) return true;
  // Built-in signature checks write no logs; a malformed compute budget is refused before anything runs.
  return (
    typeof error !== "string" &&
    "InstructionError" in error &&
    instructions[error.InstructionError[0]]?.program !== COMPUTE_BUDGET_PROGRAM
  );
};

/** Whether a transaction with this error is charged its fee. */
export const isCharged = (error: TransactionErrorJson | undefined, executed: boolean): boolean =>
  executed || (error !== undefined && FEES_ONLY.has(error));

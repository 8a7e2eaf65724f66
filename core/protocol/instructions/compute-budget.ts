import type { Instruction } from "../../domain/ledger/instruction.ts";
import { fieldsOf, fieldWriter } from "../accounts/byte-fields.ts";
import { COMPUTE_BUDGET_PROGRAM } from "../addresses/well-known-addresses.ts";
import type { WireInstruction } from "../transaction/wire-transaction.ts";

/** What a transaction asks of the Compute Budget program; null where it asks nothing. */
type ComputeRequest = {
  /** Compute units of the whole transaction, u32. */
  readonly unitLimit: number | null;
  /** Micro-lamports for each compute unit, u64. */
  readonly unitPrice: bigint | null;
};

/** Instruction numbers (Agave `compute-budget-interface`: ComputeBudgetInstruction, borsh). */
const REQUEST_HEAP_FRAME = 1;
const SET_UNIT_LIMIT = 2;
const SET_UNIT_PRICE = 3;
const SET_LOADED_DATA_LIMIT = 4;

/** What each instruction sets, and its minimum length in bytes. Bytes after that are not read. */
const KNOWN: Readonly<Record<number, { readonly sets: string; readonly bytes: number }>> = {
  [REQUEST_HEAP_FRAME]: { sets: "the heap", bytes: 5 },
  [SET_UNIT_LIMIT]: { sets: "the compute unit limit", bytes: 5 },
  [SET_UNIT_PRICE]: { sets: "the compute unit price", bytes: 9 },
  [SET_LOADED_DATA_LIMIT]: { sets: "the limit of loaded account data", bytes: 5 },
};

/** Bytes of a heap (Agave `compute_budget_limits.rs`: MIN_HEAP_FRAME_BYTES, MAX_HEAP_FRAME_BYTES). */
const KIB = 1024;
const MIN_HEAP = 32 * KIB;
const MAX_HEAP = 256 * KIB;

/** A Compute Budget instruction that every ledger refuses. */
type ComputeBudgetFault = {
  /** Index of the top-level instruction. */
  readonly instructionIndex: number;
  /** Completes "The instruction ...". */
  readonly detail: string;
};

/**
 * The compute unit limit and price a transaction asks for. The runtime refuses a second instruction of
 * one kind. This takes the highest value, so that sending two gains nothing.
 */
export const computeRequest = (instructions: ReadonlyArray<WireInstruction>): ComputeRequest => {
  let unitLimit: number | null = null;
  let unitPrice: bigint | null = null;
  for (const { program, data } of instructions) {
    if (program !== COMPUTE_BUDGET_PROGRAM) continue;
    const fields = fieldsOf(data);
    if (data[0] === SET_UNIT_LIMIT && data.length >= 5)
      unitLimit = Math.max(unitLimit ?? 0, fields.u32(1));
    if (data[0] === SET_UNIT_PRICE && data.length >= 9) {
      const price = fields.u64(1);
      unitPrice = unitPrice === null || price > unitPrice ? price : unitPrice;
    }
  }
  return { unitLimit, unitPrice };
};

const faultOf = (data: Uint8Array, isSet: (discriminator: number) => boolean): string | null => {
  const [discriminator = 0] = data;
  const known = KNOWN[discriminator];
  if (known === undefined) return "is not an instruction of the Compute Budget program";
  if (data.length < known.bytes) return `has ${data.length} of at least ${known.bytes} bytes`;
  if (isSet(discriminator)) return `sets ${known.sets} a second time`;
  const fields = fieldsOf(data);
  if (discriminator === REQUEST_HEAP_FRAME) {
    const heap = fields.u32(1);
    if (heap < MIN_HEAP || heap > MAX_HEAP || heap % KIB !== 0)
      return `asks for a heap of ${heap} bytes, which is not 32 to 256 KiB in whole KiB`;
  }
  return discriminator === SET_LOADED_DATA_LIMIT && fields.u32(1) === 0
    ? "limits loaded account data to 0 bytes"
    : null;
};

/**
 * The first Compute Budget instruction for which a ledger drops the transaction before it runs, whatever its
 * state, null when there is none (Agave `compute_budget_instruction_details.rs`): an unknown or short one, a
 * second one of a kind, a heap out of range, a limit of 0 bytes of loaded account data.
 */
export const computeBudgetFault = (
  instructions: ReadonlyArray<WireInstruction>,
): ComputeBudgetFault | null => {
  const seen = new Set<number>();
  for (const [instructionIndex, { program, data }] of instructions.entries()) {
    if (program !== COMPUTE_BUDGET_PROGRAM) continue;
    const detail = faultOf(data, (discriminator) => seen.has(discriminator));
    if (detail !== null) return { instructionIndex, detail };
    seen.add(data[0] ?? 0);
  }
  return null;
};

/**
 * The Compute Budget instructions that set a transaction's compute units (u32), the bytes of account data that it loads
 * (u32, above 0) and its price in micro-lamports for each unit (u64); none for what is left out and for a price of 0.
 */
export const computeBudgetInstructions = (budget: {
  readonly unitLimit: number;
  readonly loadedBytes?: number;
  readonly unitPrice: bigint;
}): ReadonlyArray<Instruction> =>
  [
    fieldWriter(5).u8(SET_UNIT_LIMIT).u32(budget.unitLimit).done(),
    ...(budget.loadedBytes === undefined
      ? []
      : [fieldWriter(5).u8(SET_LOADED_DATA_LIMIT).u32(budget.loadedBytes).done()]),
    ...(budget.unitPrice === 0n
      ? []
      : [fieldWriter(9).u8(SET_UNIT_PRICE).u64(budget.unitPrice).done()]),
  ].map((data) => ({ programAddress: COMPUTE_BUDGET_PROGRAM, accounts: [], data }));

/**
 * What a prepared transaction asks of the Compute Budget program beside its price. Its units are at least 1.8 times the
 * measured maximum when addresses need the usual number of bump tries.
 */
export type TransactionBudget = {
  /** Compute units. */
  readonly unitLimit: number;
  /** The bytes of accounts and programs that it may load; absent: as many as the ledger loads at most. */
  readonly loadedBytes?: number;
};

/** Several times the size of the SPL programs and both of ours. */
export const LOADED_BYTES = 1_048_576;

/**
 * A settlement loads accounts of the party that it pays, and with `claim_refund` and `return_rent` behind it those of
 * all. Each can grow its
 * own account to 10 MiB, so nothing limits what is loaded. A release with both behind it that makes both payees'
 * accounts takes
 * 60,000 units, and each further bump try 1,500.
 */
export const SETTLEMENT_BUDGET: TransactionBudget = { unitLimit: 150_000 };

/** The most bytes of a prepared transaction: 100 below the ledger's limit, for what wallets add. */
export const MAX_PREPARED_BYTES = 1132;

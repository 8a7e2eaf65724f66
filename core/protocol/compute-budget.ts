import type { WireInstruction } from "./wire-transaction.ts";
import { fieldsOf } from "./byte-fields.ts";
import { COMPUTE_BUDGET_PROGRAM } from "./well-known-addresses.ts";

/** What a transaction asks of the Compute Budget program; null where it asks nothing. */
export type ComputeRequest = {
  /** Compute units of the whole transaction, u32. */
  readonly unitLimit: number | null;
  /** Micro-lamports for each compute unit, u64. */
  readonly unitPrice: bigint | null;
};

/** Places in the enum of instructions (Agave `compute-budget-interface`: ComputeBudgetInstruction, borsh). */
const SET_UNIT_LIMIT = 2;
const SET_UNIT_PRICE = 3;

/**
 * The compute unit limit and price a transaction asks for. The runtime refuses a second instruction of
 * one kind, so the highest of them is taken and a trick with two gains nothing.
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

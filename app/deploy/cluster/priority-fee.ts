import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import { computeBudgetInstructions } from "../../../core/protocol/instructions/compute-budget.ts";

/**
 * The highest price that the command takes, in micro-lamports for each compute unit: 0.02 SOL for a transaction of
 * `MOST_UNITS`.
 */
export const MAX_PRIORITY_FEE = 100_000_000n;

/** The highest price that the command proposes by itself: some 0.0012 SOL for a deployment of both programs. */
const MOST_PROPOSED = 1_000_000n;

/**
 * The price that a network's recent ones propose, in micro-lamports for each compute unit: what three quarters of the
 * last blocks took, at most 1,000,000; 0 where nothing is known.
 */
export const proposedPrice = (recent: ReadonlyArray<bigint>): bigint => {
  const ascending = recent.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const price = ascending[Math.floor(ascending.length * 0.75)] ?? 0n;
  return price < MOST_PROPOSED ? price : MOST_PROPOSED;
};

/**
 * Compute units of a write to a buffer: 2,370 of the loader (Agave `bpf_loader`: UPGRADEABLE_LOADER_COMPUTE_UNITS), 300
 * of the price and limit.
 */
export const WRITE_UNITS = 3000;
/** The compute unit limit of every other transaction of a deployment. */
export const MOST_UNITS = 200_000;

const MICRO = 1_000_000n;

/** The instructions that offer a price, in micro-lamports for each of `units`; none for a price of 0. */
export const priorityInstructions = (price: bigint, units: number): ReadonlyArray<Instruction> =>
  price === 0n ? [] : computeBudgetInstructions({ unitLimit: units, unitPrice: price });

/**
 * The lamports that a transaction of `units` pays for its price, rounded up (Agave `compute-budget`:
 * get_prioritization_fee).
 */
export const priorityLamports = (price: bigint, units: number): bigint =>
  (price * BigInt(units) + MICRO - 1n) / MICRO;

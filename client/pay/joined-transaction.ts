import type { Address } from "../../core/domain/address.ts";
import { parseAddress } from "../../core/domain/address.ts";
import type { Instruction } from "../../core/domain/ledger/instruction.ts";
import { COMPUTE_BUDGET_PROGRAM } from "../../core/protocol/addresses/well-known-addresses.ts";
import {
  computeBudgetInstructions,
  computeRequest,
} from "../../core/protocol/instructions/compute-budget.ts";
import {
  type UnsignedTransaction,
  unsignedTransaction,
} from "../../core/protocol/transaction/unsigned-transaction.ts";
import {
  decodeWireTransaction,
  MAX_TRANSACTION_BYTES,
  openedInstructions,
} from "../../core/protocol/transaction/wire-transaction.ts";
import { MOST_PRIORITY_FEE } from "../signing/expected-transaction.ts";

/** The most compute units of a transaction (Agave `MAX_COMPUTE_UNIT_LIMIT`). */
const MOST_UNITS = 1_400_000;
const MICRO = 1_000_000n;

/**
 * The same transaction with one more instruction at its end, or as it is where that does not fit. It was checked, and
 * takes the compute units of what it has.
 */
export const withLast = (
  transaction: UnsignedTransaction,
  last: Instruction,
): UnsignedTransaction => {
  const decoded = decodeWireTransaction(transaction.bytes);
  if ("malformed" in decoded) return transaction;
  const { feePayer: payer, blockhash: text } = decoded.value;
  const blockhash = parseAddress(text);
  if (blockhash === undefined) return transaction;
  const instructions = [...openedInstructions(decoded.value), last];
  const longer = unsignedTransaction({ payer, instructions, blockhash });
  return longer.bytes.length <= MAX_TRANSACTION_BYTES ? longer : transaction;
};

/**
 * One transaction that does what several do, in their order, all or nothing: with the compute units of all, the highest
 * price, and the last one's blockhash. They were checked, and have the same payer. Null where they do not fit into one,
 * or would pay more for priority than `mostPriorityFee`, lamports.
 */
export const joinedTransaction = (
  parts: ReadonlyArray<UnsignedTransaction>,
  payer: Address,
  mostPriorityFee: bigint = MOST_PRIORITY_FEE,
): UnsignedTransaction | null => {
  const messages = parts.flatMap(({ bytes }) => {
    const decoded = decodeWireTransaction(bytes);
    return "malformed" in decoded ? [] : [decoded.value];
  });
  const blockhash = parseAddress(messages.at(-1)?.blockhash ?? "");
  const isOfPayer = messages.every(({ feePayer }) => feePayer === payer);
  if (messages.length !== parts.length || blockhash === undefined || !isOfPayer) return null;
  const asked = messages.map(({ instructions }) => computeRequest(instructions));
  const unitLimit = asked.reduce((sum, each) => sum + (each.unitLimit ?? MOST_UNITS), 0);
  const unitPrice = asked
    .map((each) => each.unitPrice ?? 0n)
    .reduce((most, each) => (each > most ? each : most), 0n);
  if (unitLimit > MOST_UNITS || (unitPrice * BigInt(unitLimit)) / MICRO >= mostPriorityFee)
    return null;
  const calls = messages
    .flatMap(openedInstructions)
    .filter(({ programAddress }) => programAddress !== COMPUTE_BUDGET_PROGRAM);
  const instructions = [...computeBudgetInstructions({ unitLimit, unitPrice }), ...calls];
  const joined = unsignedTransaction({ payer, instructions, blockhash });
  return joined.bytes.length <= MAX_TRANSACTION_BYTES ? joined : null;
};

import type { Address } from "../../core/domain/address.ts";
import { parseAddress } from "../../core/domain/address.ts";
import { decodeBase64 } from "../../core/domain/encoding/base64.ts";
import type { Instruction } from "../../core/domain/ledger/instruction.ts";
import { COMPUTE_BUDGET_PROGRAM } from "../../core/protocol/addresses/well-known-addresses.ts";
import {
  computeBudgetFault,
  computeRequest,
} from "../../core/protocol/instructions/compute-budget.ts";
import {
  type UnsignedTransaction,
  unsignedTransaction,
} from "../../core/protocol/transaction/unsigned-transaction.ts";
import {
  decodeWireTransaction,
  openedInstructions,
  type WireInstruction,
} from "../../core/protocol/transaction/wire-transaction.ts";
import { transactionFee } from "../../core/protocol/rules/lamport-rules.ts";
import { SettlementError } from "../settlement-error.ts";

/** The most that a prepared transaction may pay for priority, in lamports, unless the caller says another limit. */
export const MOST_PRIORITY_FEE = 1_000_000n;
const MICRO = 1_000_000n;
/** What the ledger charges for when a transaction names no limit (Agave `compute_budget_limits.rs`). */
const MOST_UNITS = 1_400_000;

/** One difference between what was asked for and what the service prepared. */
export type Difference = {
  readonly what: string;
  readonly asked: string;
  readonly prepared: string;
};

const refuse = (differences: ReadonlyArray<Difference>): never => {
  const sides = differences.map(
    ({ what, asked, prepared }) => `${what}: asked ${asked}, prepared ${prepared}`,
  );
  throw new SettlementError(
    "prepared_otherwise",
    `The service prepared another transaction than was asked for. ${sides.join("; ")}.`,
    "Do not sign it, and do not use this service before its operator has explained it.",
    { problem: { differences } },
  );
};

const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** An instruction as text: its program, accounts and data. */
const asText = ({ programAddress, accounts, data }: Instruction): string =>
  `${programAddress}(${accounts.map(({ address }) => address).join(", ")}) ${hex(data)}`;

const differencesOf = (
  asked: ReadonlyArray<Instruction>,
  prepared: ReadonlyArray<Instruction>,
): ReadonlyArray<Difference> =>
  Array.from({ length: Math.max(asked.length, prepared.length) }, (_, i) => {
    const [want, given] = [asked[i], prepared[i]];
    return {
      what: `instruction ${i + 1}`,
      asked: want === undefined ? "none" : asText(want),
      prepared: given === undefined ? "none" : asText(given),
    };
  }).filter((each) => each.asked !== each.prepared);

const isBudget = ({ programAddress }: Instruction): boolean =>
  programAddress === COMPUTE_BUDGET_PROGRAM;

const priorityFee = (instructions: ReadonlyArray<WireInstruction>): bigint => {
  const { unitLimit, unitPrice } = computeRequest(instructions);
  return ((unitPrice ?? 0n) * BigInt(unitLimit ?? MOST_UNITS) + MICRO - 1n) / MICRO;
};

/** What the ledger takes for a transaction, lamports: for each signature, and for priority. 0 for no transaction. */
export const transactionCost = (base64: string): bigint => {
  const decoded = decodeWireTransaction(decodeBase64(base64) ?? new Uint8Array());
  if ("malformed" in decoded) return 0n;
  const { feePayer, instructions } = decoded.value;
  return transactionFee(openedInstructions(decoded.value), feePayer) + priorityFee(instructions);
};

/**
 * Decodes a prepared transaction and compares it, byte for byte, with one that is built here from the instructions of
 * `asked`, the payer, and the prepared blockhash and compute budget. `asked` gets the prepared instructions without the
 * compute budget, for values that only the service knows. @throws SettlementError with both sides for anything
 * else, and above the priority fee, lamports.
 */
export const expectedTransaction = (
  base64: string,
  payer: Address,
  asked: (prepared: ReadonlyArray<Instruction>) => ReadonlyArray<Instruction>,
  mostPriorityFee: bigint = MOST_PRIORITY_FEE,
): UnsignedTransaction => {
  const decoded = decodeWireTransaction(decodeBase64(base64) ?? new Uint8Array());
  if ("malformed" in decoded)
    return refuse([
      { what: "form", asked: "a transaction", prepared: `one that ${decoded.malformed}` },
    ]);
  const message = decoded.value;
  const blockhash = parseAddress(message.blockhash);
  const budgetFault = computeBudgetFault(message.instructions);
  if (message.tables.length > 0 || blockhash === undefined || budgetFault !== null)
    return refuse([
      {
        what: "form",
        asked: "no address tables and a sound compute budget",
        prepared: budgetFault?.detail ?? "another",
      },
    ]);
  const fee = priorityFee(message.instructions);
  if (fee > mostPriorityFee)
    return refuse([
      { what: "priority fee", asked: `at most ${mostPriorityFee} lamports`, prepared: `${fee}` },
    ]);
  const all = openedInstructions(message);
  const prepared = all.filter((each) => !isBudget(each));
  const expected = asked(prepared);
  const differences = [
    ...(message.feePayer === payer
      ? []
      : [{ what: "payer", asked: payer, prepared: message.feePayer }]),
    ...differencesOf(expected, prepared),
  ];
  if (differences.length > 0) return refuse(differences);
  const built = unsignedTransaction({
    payer,
    instructions: [...all.filter(isBudget), ...expected],
    blockhash,
  });
  if (hex(built.bytes) !== hex(message.bytes))
    return refuse([{ what: "bytes", asked: hex(built.bytes), prepared: hex(message.bytes) }]);
  return built;
};

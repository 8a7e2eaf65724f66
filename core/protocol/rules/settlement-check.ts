import type { Address } from "../../domain/address.ts";
import type { Instruction } from "../../domain/ledger/instruction.ts";
import type { SettlementFault } from "../../domain/relay/settlement-rule.ts";
import { SYSTEM_PROGRAM } from "../addresses/well-known-addresses.ts";
import { CUSTODY_INSTRUCTIONS } from "../generated/custody.ts";
import { readCall } from "../instructions/program-call.ts";
import { resolveAccounts, type TransactionAccounts } from "../transaction/address-table.ts";
import { unsignedTransaction } from "../transaction/unsigned-transaction.ts";
import { decodeWireMessage, type WireMessage } from "../transaction/wire-transaction.ts";
import { type CustodyCall, custodyCalls, type LedgerView } from "./custody-call.ts";
import { custodyFault } from "./instruction-records.ts";

/** The most accounts, appended ones among them, that the program reads (`programs/sdk/input.h`). */
const MOST_ACCOUNTS = 32;

const callFault = (call: CustodyCall, view: LedgerView): SettlementFault | undefined => {
  const { custodyProgram } = view.deployment;
  const read = readCall({ ...call, program: custodyProgram }, { custodyProgram });
  if (read?.program !== "custody")
    return {
      rule: "unknown_instruction",
      detail: "the data is not an instruction of the custody program, or has the wrong length",
    };
  // A transaction may append further accounts.
  const count = Object.keys(CUSTODY_INSTRUCTIONS[read.name].accounts).length;
  const given = call.accounts.length;
  if (given < count || given > MOST_ACCOUNTS)
    return {
      rule: "wrong_account_count",
      detail: `${read.name} needs ${count} accounts, and at most ${MOST_ACCOUNTS}, not ${given}`,
    };
  return custodyFault(call, read, view);
};

/**
 * The first custody instruction of a transaction that cannot succeed on the ledger as the view shows it,
 * and why. It judges no account that an earlier instruction of the same transaction may write, and none
 * that the ledger does not show yet. See docs/relay.md.
 */
export const settlementFault = (
  transaction: WireMessage,
  accounts: TransactionAccounts,
  view: LedgerView,
): (SettlementFault & { readonly instructionIndex: number }) | undefined => {
  for (const call of custodyCalls(transaction, accounts, view)) {
    const fault = callFault(call, view);
    if (fault !== undefined) return { ...fault, instructionIndex: call.index };
  }
  return undefined;
};

/**
 * The rule that the relay's check finds broken in a transaction of these instructions, undefined when it finds none. A
 * message whose payer is one of the programs is also undefined here, because the check of the payer refuses it.
 */
export const preparedFault = (
  instructions: ReadonlyArray<Instruction>,
  payer: Address,
  view: LedgerView,
): SettlementFault | undefined => {
  // No rule looks at the blockhash.
  const { message } = unsignedTransaction({ payer, instructions, blockhash: SYSTEM_PROGRAM });
  const decoded = decodeWireMessage(message);
  if (decoded === undefined) return undefined;
  const accounts = resolveAccounts(decoded, new Map());
  if ("fault" in accounts) throw new Error("a message without tables needs one");
  return settlementFault(decoded, accounts, view);
};

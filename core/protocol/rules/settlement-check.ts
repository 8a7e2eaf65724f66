import type { SettlementFault } from "../../domain/relay/settlement-rule.ts";
import { CUSTODY_INSTRUCTIONS } from "../generated/custody.ts";
import { readCall } from "../instructions/program-call.ts";
import type { TransactionAccounts } from "../transaction/address-table.ts";
import type { WireMessage } from "../transaction/wire-message.ts";
import { custodyCalls, type CustodyCall, type LedgerView } from "./custody-call.ts";
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
 * that the ledger does not show yet. See docs/protocol.md, "Relay".
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

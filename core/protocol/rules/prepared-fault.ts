import type { Address } from "../../domain/address.ts";
import type { Instruction } from "../../domain/ledger/instruction.ts";
import type { SettlementFault } from "../../domain/relay/settlement-rule.ts";
import { SYSTEM_PROGRAM } from "../addresses/well-known-addresses.ts";
import { resolveAccounts } from "../transaction/address-table.ts";
import { unsignedTransaction } from "../transaction/unsigned-transaction.ts";
import { decodeWireMessage } from "../transaction/wire-message.ts";
import type { LedgerView } from "./custody-call.ts";
import { settlementFault } from "./settlement-check.ts";

/**
 * The rule that the relay's check finds broken in a transaction of these instructions, undefined when it finds none. A message
 * whose payer is one of the programs is also undefined here, because the check of the payer refuses it.
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

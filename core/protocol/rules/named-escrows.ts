import type { Address } from "../../domain/address.ts";
import { CUSTODY_INSTRUCTIONS } from "../generated/custody.ts";
import { decodeCustodyInstruction } from "../instructions/custody-instruction-data.ts";
import type { InstructionLayout } from "../instructions/instruction-layout.ts";
import type { TransactionAccounts } from "../transaction/address-table.ts";
import type { WireMessage } from "../transaction/wire-message.ts";

const LAYOUTS: Readonly<Record<string, InstructionLayout>> = CUSTODY_INSTRUCTIONS;

/** The addresses that a transaction's custody instructions name as an escrow, each once. */
export const namedEscrows = (
  { instructions }: WireMessage,
  { addresses }: TransactionAccounts,
  custodyProgram: Address,
): ReadonlyArray<Address> => {
  const named = instructions.flatMap(({ program, accounts, data }) => {
    const call = program === custodyProgram ? decodeCustodyInstruction(data) : undefined;
    const place = call && LAYOUTS[call.name]?.accounts["escrow"]?.place;
    return place === undefined ? [] : (addresses[accounts[place] ?? -1] ?? []);
  });
  return [...new Set(named)];
};

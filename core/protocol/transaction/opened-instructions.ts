import type { Address } from "../../domain/address.ts";
import type { Instruction } from "../../domain/ledger/instruction.ts";
import type { WireMessage } from "./wire-message.ts";

/** The instructions of a message without address tables, with their accounts as addresses and the roles that the message gives them. */
export const openedInstructions = (message: WireMessage): ReadonlyArray<Instruction> => {
  const { staticAccounts, signerCount, readonlySigners, readonlyOthers } = message;
  const roleAt = (place: number) => {
    const signs = place < signerCount;
    const writable = signs
      ? place < signerCount - readonlySigners
      : place < staticAccounts.length - readonlyOthers;
    return ((signs ? 2 : 0) + (writable ? 1 : 0)) as 0 | 1 | 2 | 3;
  };
  return message.instructions.map(({ program, accounts, data }) => ({
    programAddress: program,
    accounts: accounts.map((place) => ({
      address: staticAccounts[place] as Address,
      role: roleAt(place),
    })),
    data,
  }));
};

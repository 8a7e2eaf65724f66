import { type Address, ZERO_ADDRESS } from "../../domain/address.ts";
import type { OpenInstruction } from "../../domain/escrow/next-action.ts";
import type { Instruction } from "../../domain/ledger/instruction.ts";
import { createAssociatedTokenInstruction } from "../accounts/token.ts";

/** Makes a wallet's associated token account if it is missing, at the sender's cost; does nothing when the wallet has it already. */
export const openAssociatedToken = (owner: Address, mint: Address): OpenInstruction => {
  const instruction = createAssociatedTokenInstruction({ payer: ZERO_ADDRESS, owner, mint });
  return {
    ...instruction,
    accounts: instruction.accounts.map(({ address, role }, i) => ({
      address: i === 0 ? null : address,
      role,
    })),
  };
};

/** The instructions with the payer's address in place of null. */
export const withPayer = (
  instructions: ReadonlyArray<OpenInstruction>,
  payer: Address,
): ReadonlyArray<Instruction> =>
  instructions.map((instruction) => ({
    ...instruction,
    accounts: instruction.accounts.map(({ address, role }) => ({
      address: address ?? payer,
      role,
    })),
  }));

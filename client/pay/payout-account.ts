import type { Address } from "../../core/domain/address.ts";
import type { Instruction } from "../../core/domain/ledger/instruction.ts";
import { createAssociatedTokenInstruction } from "../../core/protocol/accounts/token.ts";

/**
 * The instruction that makes the payee's token account at the payer's cost, where the service prepared it: only the
 * ledger knows whether there is one.
 */
export const payoutAccountIn = (
  prepared: ReadonlyArray<Instruction>,
  account: { readonly payer: Address; readonly owner: Address; readonly mint: Address },
): ReadonlyArray<Instruction> => {
  const create = createAssociatedTokenInstruction(account);
  const isThere = prepared.some(({ programAddress }) => programAddress === create.programAddress);
  return isThere ? [create] : [];
};

import type { Address } from "../../../core/domain/address.ts";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import { createAssociatedTokenInstruction } from "../../../core/protocol/accounts/token.ts";

/**
 * The calls of a settlement, behind the instructions that make the payout accounts of `owners` as far as the prepared transaction makes them: only
 * the ledger knows which of them exist. Making one that exists changes nothing.
 */
export const withPayoutAccounts = (
  prepared: ReadonlyArray<Instruction>,
  { payer, mint, owners }: { payer: Address; mint: Address; owners: ReadonlyArray<Address> },
  calls: ReadonlyArray<Instruction>,
): ReadonlyArray<Instruction> => {
  const made = [...new Set(owners)]
    .map((owner) => createAssociatedTokenInstruction({ payer, owner, mint }))
    .filter((create) =>
      prepared.some(
        ({ programAddress, accounts }) =>
          programAddress === create.programAddress &&
          accounts[1]?.address === create.accounts[1]?.address,
      ),
    );
  return [...made, ...calls];
};

import type { Address } from "../../../core/domain/address.ts";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import { createAssociatedTokenInstruction } from "../../../core/protocol/accounts/token.ts";
import { SettlementError } from "../../settlement-error.ts";

/** Requires that a settlement opens no token account for these owners. @throws SettlementError `agent_account_missing` */
const requireThere = (
  made: ReadonlyArray<{ readonly owner: Address }>,
  owners: ReadonlyArray<Address>,
): void => {
  const missing = made.find(({ owner }) => owners.includes(owner));
  if (missing !== undefined)
    throw new SettlementError(
      "agent_account_missing",
      `${missing.owner} has closed the token account that it paid from, and the payer opens none for it.`,
      "The agent opens it, or has the escrow refunded once it has expired.",
    );
};

/**
 * The calls of a settlement, behind the instructions that make the payout accounts of `owners` as far as the prepared transaction makes them: only
 * the ledger knows which of them exist. Making one that exists changes nothing. @throws SettlementError `agent_account_missing` when it makes one of `existing`
 */
export const withPayoutAccounts = (
  prepared: ReadonlyArray<Instruction>,
  {
    payer,
    mint,
    owners,
    existing,
  }: {
    readonly payer: Address;
    readonly mint: Address;
    readonly owners: ReadonlyArray<Address>;
    readonly existing: ReadonlyArray<Address>;
  },
  calls: ReadonlyArray<Instruction>,
): ReadonlyArray<Instruction> => {
  const made = [...new Set(owners)]
    .map((owner) => ({ owner, create: createAssociatedTokenInstruction({ payer, owner, mint }) }))
    .filter(({ create }) =>
      prepared.some(
        ({ programAddress, accounts }) =>
          programAddress === create.programAddress &&
          accounts[1]?.address === create.accounts[1]?.address,
      ),
    );
  requireThere(made, existing);
  return [...made.map(({ create }) => create), ...calls];
};

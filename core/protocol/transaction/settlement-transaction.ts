import type { Address } from "../../domain/address.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import type { LedgerTransaction } from "../../domain/ledger/history.ts";
import type { EventKind, EventReference } from "../../domain/index/settlement-event.ts";
import { CUSTODY_INSTRUCTIONS } from "../generated/custody.ts";
import {
  type CustodyInstructionName,
  decodeCustodyInstruction,
} from "../instructions/custody-instruction-data.ts";

/** The transaction that caused an event, by escrow and kind: a transaction does not show the event's number. */
export type EventCause = Omit<EventReference, "position"> & {
  readonly escrow: Address;
  readonly kind: EventKind;
};

/** The event that each custody instruction causes. */
const CAUSES = {
  create_escrow: "escrow_created",
  release_escrow: "escrow_released",
  release_partial: "escrow_partially_released",
  claim_refund: "escrow_refunded",
  cancel_escrow: "escrow_refunded",
} as const satisfies Partial<Record<CustodyInstructionName, EventKind>>;

const isCause = (name: CustodyInstructionName | undefined): name is keyof typeof CAUSES =>
  name !== undefined && name in CAUSES;

/**
 * Which events a transaction is the cause of. A transaction that landed without error ran every one of its
 * instructions to its end, those that programs called as well, since a call that fails cannot be caught:
 * so each custody instruction in it did what it says. See docs/protocol.md, "custody".
 */
export const eventCausesOf = (
  transaction: LedgerTransaction,
  deployment: Deployment,
): ReadonlyArray<EventCause> => {
  const { signature, slot, failed, instructions } = transaction;
  if (failed) return [];
  return instructions.flatMap(({ program, accounts, data }) => {
    if (program !== deployment.custodyProgram || data === null) return [];
    const name = decodeCustodyInstruction(data)?.name;
    if (!isCause(name)) return [];
    const escrow = accounts[CUSTODY_INSTRUCTIONS[name].accounts.escrow.place];
    return escrow === undefined ? [] : [{ escrow, kind: CAUSES[name], signature, slot }];
  });
};

/**
 * The accounts that a transaction can have changed in either program: those that instructions of the programs
 * name, or all of its accounts when the node does not keep the calls. Signers are left out: a key that
 * signs is no address that a program derives.
 */
export const touchedAccountsOf = (
  transaction: LedgerTransaction,
  deployment: Deployment,
): ReadonlyArray<Address> => {
  const { failed, instructions, hasCalls, accounts, signers } = transaction;
  if (failed) return [];
  const named = hasCalls
    ? instructions
        .filter(
          ({ program }) =>
            program === deployment.custodyProgram || program === deployment.attestorProgram,
        )
        .flatMap((instruction) => instruction.accounts)
    : accounts;
  return [...new Set(named)].filter((address) => !signers.has(address));
};

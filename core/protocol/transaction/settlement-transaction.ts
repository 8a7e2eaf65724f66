import type { Address } from "../../domain/address.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import type { LedgerTransaction } from "../../domain/ledger/history.ts";
import type { EventKind, EventReference } from "../../domain/index/settlement-event.ts";
import { readCall } from "../instructions/program-call.ts";
import { CUSTODY_RECORDS, effectOf } from "../rules/instruction-records.ts";

/** The transaction that caused an event, by escrow and kind: a transaction does not show the event's number. */
export type EventCause = Omit<EventReference, "position"> & {
  readonly escrow: Address;
  readonly kind: EventKind;
};

/**
 * The events that a transaction caused. A transaction that landed without error ran every one of its
 * instructions to the end, including those that programs called, because a failed call cannot be caught.
 * Therefore each custody instruction in it took effect. See docs/protocol.md, "custody".
 */
export const eventCausesOf = (
  transaction: LedgerTransaction,
  deployment: Deployment,
): ReadonlyArray<EventCause> => {
  const { signature, slot, failed, instructions } = transaction;
  if (failed) return [];
  return instructions.flatMap((called) => {
    const read = readCall(called, deployment);
    if (read?.program !== "custody") return [];
    const { event: kind } = CUSTODY_RECORDS[read.name];
    const escrow = effectOf(read)?.subject;
    return kind === null || escrow === undefined ? [] : [{ escrow, kind, signature, slot }];
  });
};

/**
 * The accounts that a transaction can have changed in either program: those that instructions of the programs
 * name, or all of its accounts when the node does not keep the calls. Signers are left out, because a key that
 * signs cannot be an address that a program derives.
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

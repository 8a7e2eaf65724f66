import type { Address } from "../../domain/address.ts";
import type { EventCauseKind, EventReference } from "../../domain/index/settlement-event.ts";
import type { Escrow } from "../../domain/escrow/escrow.ts";
import type { LedgerAccount } from "../../domain/ledger/account.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import type { LedgerTransaction } from "../../domain/ledger/history.ts";
import { decodeArchivedEscrowAccount } from "../accounts/archived-escrow-account.ts";
import { decodeEscrowAccount } from "../accounts/escrow-account.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  LIGHTHOUSE_PROGRAM,
  MEMO_PROGRAM,
} from "../addresses/well-known-addresses.ts";
import { readCall } from "../instructions/program-call.ts";
import { CUSTODY_RECORDS, type EffectKind, effectOf } from "../rules/instruction-records.ts";
import type { WireTransaction } from "./wire-transaction.ts";

/** One effect that a transaction would have if it succeeded. */
export type RelayedEffect = {
  readonly kind: EffectKind;
  /** The escrow or the merchant account; for settings the config or the registry. */
  readonly subject: Address;
};

const isOurs = (program: Address, { custodyProgram, attestorProgram }: Deployment): boolean =>
  program === custodyProgram || program === attestorProgram;

/** The effect of one instruction, null when it is none of the two programs' or its subject cannot be told. */
const effectOfCall = (
  called: Parameters<typeof readCall>[0],
  deployment: Deployment,
): RelayedEffect | null => {
  const read = readCall(called, deployment);
  return read === undefined ? null : effectOf(read);
};

/**
 * What a relayed transaction would do to escrows and merchants. Null when an instruction of the two programs is not
 * known, or its subject comes from an address table.
 */
export const relayedEffects = (
  { instructions, staticAccounts }: WireTransaction,
  deployment: Deployment,
): ReadonlyArray<RelayedEffect> | null => {
  const effects = instructions
    .filter(({ program }) => isOurs(program, deployment))
    .map((each) =>
      effectOfCall(
        { ...each, accounts: each.accounts.map((place) => staticAccounts[place]) },
        deployment,
      ),
    );
  return effects.length > 0 && effects.every((effect) => effect !== null) ? effects : null;
};

/** The effects that a landed transaction had, of top-level instructions and of those that programs called. */
const effectsOfLanded = (
  { failed, instructions }: LedgerTransaction,
  deployment: Deployment,
): ReadonlyArray<RelayedEffect> =>
  failed ? [] : instructions.flatMap((called) => effectOfCall(called, deployment) ?? []);

/** Whether a landed transaction had this effect. */
export const hadEffect = (
  transaction: LedgerTransaction,
  { kind, subject }: RelayedEffect,
  deployment: Deployment,
): boolean =>
  effectsOfLanded(transaction, deployment).some(
    (effect) => effect.kind === kind && effect.subject === subject,
  );

/** Whether an escrow shows what a change of it leaves behind. */
const leaves = (kind: "settle" | "capture" | "close", escrow: Escrow): boolean => {
  if (kind === "capture") return escrow.released > 0n;
  return kind === "close" ? escrow.closesAt !== null : escrow.state !== "Pending";
};

/** Whether the subject's account shows what the effect leaves behind, whoever caused it. */
export const showsEffect = (
  { kind }: RelayedEffect,
  account: LedgerAccount | null,
  deployment: Deployment,
): boolean => {
  if (account === null) return false;
  const isTombstone = "value" in decodeArchivedEscrowAccount(account, deployment);
  switch (kind) {
    case "create":
      return account.owner === deployment.custodyProgram;
    case "register":
      return account.owner === deployment.attestorProgram;
    case "archive":
      return isTombstone;
    case "settle":
    case "capture":
    case "close": {
      if (isTombstone) return true;
      const decoded = decodeEscrowAccount(account, deployment);
      return "value" in decoded && leaves(kind, decoded.value);
    }
    case "other":
      return false;
  }
};

const HARMLESS: ReadonlySet<Address> = new Set([
  COMPUTE_BUDGET_PROGRAM,
  MEMO_PROGRAM,
  ASSOCIATED_TOKEN_PROGRAM,
  LIGHTHOUSE_PROGRAM,
]);

/**
 * The escrow of a transaction that creates one and does nothing else of value, null of any other. The ledger makes an
 * escrow at an address once, so creating this one again can never pay twice.
 */
export const onlyCreates = (
  transaction: WireTransaction,
  deployment: Deployment,
): Address | null => {
  const ours = transaction.instructions.filter(({ program }) => !HARMLESS.has(program));
  const [effect, ...others] = relayedEffects(transaction, deployment) ?? [];
  return ours.length === 1 && others.length === 0 && effect?.kind === "create"
    ? effect.subject
    : null;
};

/**
 * The transaction that caused an event, by escrow and way: a transaction does not show the event's number.
 * `seqCausedBy` says whether the escrow
 * had such an event.
 */
export type EventCause = Omit<EventReference, "position"> & {
  readonly escrow: Address;
  readonly by: EventCauseKind;
};

/**
 * The events that a transaction caused. A transaction that landed without error ran every one of its
 * instructions to the end, including those that programs called, because a failed call cannot be caught.
 * Therefore each custody instruction in it took effect. A claimed refund may have found the escrow settled. See
 * docs/protocol.md, "custody".
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
    const { causes: by } = CUSTODY_RECORDS[read.name];
    const escrow = effectOf(read)?.subject;
    return by === null || escrow === undefined ? [] : [{ escrow, by, signature, slot }];
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

/** An escrow's last bytes as a transaction gave them, and the escrow it named. */
type ArchivedBytes = { readonly escrow: Address; readonly data: Uint8Array };

/**
 * The last bytes of escrows in a transaction: what `archive_escrow` takes, and what `claim_refund` and `return_rent`
 * take of an archived one, at
 * its top level and in instructions that programs called. Only a tombstone's digest shows that they are an escrow's.
 * See docs/protocol.md, "Archiving".
 */
export const archivedBytesOf = (
  { failed, instructions }: LedgerTransaction,
  deployment: Deployment,
): ReadonlyArray<ArchivedBytes> => {
  if (failed) return [];
  return instructions.flatMap((called) => {
    const read = readCall(called, deployment);
    if (
      read?.name !== "archive_escrow" &&
      read?.name !== "claim_refund" &&
      read?.name !== "return_rent"
    )
      return [];
    const escrow = read.at("escrow");
    const data = read.args.lastBytes;
    return escrow === undefined || data.length === 0 ? [] : [{ escrow, data }];
  });
};

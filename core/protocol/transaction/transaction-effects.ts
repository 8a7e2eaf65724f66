import type { Address } from "../../domain/address.ts";
import type { EventCauseKind, EventReference } from "../../domain/index/settlement-event.ts";
import type { Escrow } from "../../domain/escrow/escrow.ts";
import type { LedgerAccount } from "../../domain/ledger/account.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import type { ExecutedInstruction, LedgerTransaction } from "../../domain/ledger/history.ts";
import { decodeArchivedEscrowAccount } from "../accounts/archived-escrow-account.ts";
import { decodeEscrowAccount } from "../accounts/escrow-account.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  ED25519_PROGRAM,
  LIGHTHOUSE_PROGRAM,
  MEMO_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../addresses/well-known-addresses.ts";
import { readAttestationMessage } from "../instructions/attestation.ts";
import { readEd25519Instruction } from "../instructions/ed25519-instruction.ts";
import { readCall } from "../instructions/program-call.ts";
import { CUSTODY_RECORDS, type EffectKind, effectOf } from "../rules/instruction-records.ts";
import type { WireTransaction } from "./wire-transaction.ts";

/** One effect that a transaction would have if it succeeded. */
export type RelayedEffect = {
  readonly kind: EffectKind;
  /** The escrow or the merchant account; for settings the config or the registry. */
  readonly subject: Address;
  /** Base units that a session's one attestation in the transaction gives in all; null where it has none or several. */
  readonly total: bigint | null;
};

const isOurs = (program: Address, { custodyProgram, attestorProgram }: Deployment): boolean =>
  program === custodyProgram || program === attestorProgram;

/** What a session's one attestation in these instructions gives in all, null where they have none or several. */
const attestedTotal = (
  instructions: ReadonlyArray<Pick<ExecutedInstruction, "program" | "data">>,
): bigint | null => {
  const messages = instructions.flatMap(({ program, data }) => {
    if (program !== ED25519_PROGRAM || data === null) return [];
    const form = readEd25519Instruction(data);
    return form.kind === "session" ? [form.attestation.message] : [];
  });
  const [message] = messages;
  if (message === undefined || messages.length > 1) return null;
  return readAttestationMessage(message)?.total ?? null;
};

/**
 * The effect of one instruction of a transaction, null when it is none of the two programs' or its subject cannot be
 * told.
 */
const effectOfCall = (
  called: Parameters<typeof readCall>[0],
  total: bigint | null,
  deployment: Deployment,
): RelayedEffect | null => {
  const read = readCall(called, deployment);
  const effect = read === undefined ? null : effectOf(read);
  if (effect === null) return null;
  // A tombstone shows nothing of a claim that comes after it.
  const isLate = read?.name === "claim_refund" && read.args.lastBytes.length > 0;
  return { subject: effect.subject, kind: isLate ? "other" : effect.kind, total };
};

/** A message's instructions, with the accounts that it names itself; those of address tables are undefined. */
export const namedCalls = ({ instructions, staticAccounts }: WireTransaction) =>
  instructions.map(({ program, data, accounts }) => ({
    program,
    data,
    accounts: accounts.map((place) => staticAccounts[place]),
  }));

/**
 * What a relayed transaction would do to escrows and merchants. Null when an instruction of the two programs is not
 * known, or its subject comes from an address table.
 */
export const relayedEffects = (
  transaction: WireTransaction,
  deployment: Deployment,
): ReadonlyArray<RelayedEffect> | null => {
  const total = attestedTotal(transaction.instructions);
  const effects = namedCalls(transaction)
    .filter(({ program }) => isOurs(program, deployment))
    .map((called) => effectOfCall(called, total, deployment));
  return effects.length > 0 && effects.every((effect) => effect !== null) ? effects : null;
};

/** What a landed transaction of others means for an effect: nothing, that it came about, or that no other one did it. */
type Rivalry = "none" | "did" | "excludes";

const isAmong = (kind: EffectKind, ...kinds: ReadonlyArray<EffectKind>): boolean =>
  kinds.includes(kind);

/**
 * What a landed transaction means for an effect that another one would have. The ledger takes most effects once, so
 * that it `excludes` the other one. Not so a refund, which succeeds again, and a capture: a later one of more may stand on
 * it. Of a session, a release captures as well.
 */
export const rivalryOf = (
  { failed, instructions }: LedgerTransaction,
  { kind, subject, total }: RelayedEffect,
  deployment: Deployment,
): Rivalry => {
  if (failed) return "none";
  const kinds = kind === "capture" ? (["capture", "release"] as const) : [kind];
  const others = attestedTotal(instructions);
  const isSame = instructions.some((called) => {
    const effect = effectOfCall(called, others, deployment);
    return effect?.subject === subject && isAmong(effect.kind, ...kinds);
  });
  if (!isSame) return "none";
  if (kind !== "capture") return kind === "refund" ? "did" : "excludes";
  if (others === null || total === null || others < total) return "none";
  return others === total ? "excludes" : "did";
};

/** The escrows that these instructions create or change, each once, in their order. */
export const escrowsOf = (
  instructions: ReadonlyArray<Parameters<typeof readCall>[0]>,
  deployment: Deployment,
): ReadonlyArray<Address> => {
  const subjects = instructions.flatMap((called) => {
    const read = readCall(called, deployment);
    if (read?.program !== "custody" || CUSTODY_RECORDS[read.name].subject !== "escrow") return [];
    return effectOf(read)?.subject ?? [];
  });
  return [...new Set(subjects)];
};

/** What an account says of an effect: that it did not come about, that it did, whoever caused it, or nothing. */
type Sign = "absent" | "shown" | "untold";

const signOf = (isShown: boolean): Sign => (isShown ? "shown" : "absent");

const signIn = ({ kind, total }: RelayedEffect, escrow: Escrow): Sign => {
  switch (kind) {
    case "capture":
      return signOf(escrow.released >= (total ?? 1n));
    case "close":
      return signOf(escrow.closesAt !== null);
    case "refund":
      // What was left of an escrow that others settled was claimed or not: its bytes are the same.
      return escrow.settledBy === null || escrow.settledBy === "refund"
        ? signOf(escrow.settledBy !== null)
        : "untold";
    case "release":
    case "cancel":
      return signOf(escrow.settledBy === kind);
    case "create":
    case "register":
    case "archive":
    case "other":
      return "untold";
  }
};

/** What the subject's account says of an effect. A tombstone, or bytes that no escrow has, may hide any. */
export const signOfEffect = (
  effect: RelayedEffect,
  account: LedgerAccount | null,
  deployment: Deployment,
): Sign => {
  const { kind } = effect;
  if (kind === "other") return "untold";
  if (account === null) return "absent";
  if (kind === "create") return signOf(account.owner === deployment.custodyProgram);
  if (kind === "register") return signOf(account.owner === deployment.attestorProgram);
  const isTombstone = "value" in decodeArchivedEscrowAccount(account, deployment);
  if (kind === "archive" || isTombstone) return signOf(isTombstone);
  const decoded = decodeEscrowAccount(account, deployment);
  if ("value" in decoded) return signIn(effect, decoded.value);
  return signOf(account.owner === deployment.custodyProgram);
};

/**
 * Whether a transaction may move lamports or tokens by itself, beside what it asks of the two programs. The ledger
 * settles an escrow once, but makes such a payment as often as it is signed.
 */
export const paysBeside = ({ instructions }: WireTransaction): boolean =>
  instructions.some(({ program }) => program === SYSTEM_PROGRAM || program === TOKEN_PROGRAM);

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

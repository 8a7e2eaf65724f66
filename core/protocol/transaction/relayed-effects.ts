import type { Address } from "../../domain/address.ts";
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
import { type EffectKind, effectOf } from "../rules/instruction-records.ts";
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
 * What a relayed transaction would do to escrows and merchants. Null when an instruction of the two programs is not known, or its
 * subject comes from an address table.
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
    case "settle": {
      const decoded = decodeEscrowAccount(account, deployment);
      return isTombstone || ("value" in decoded && decoded.value.state !== "Pending");
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

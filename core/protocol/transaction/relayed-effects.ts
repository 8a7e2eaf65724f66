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
import { ATTESTOR_INSTRUCTIONS } from "../generated/attestor.ts";
import { CUSTODY_INSTRUCTIONS } from "../generated/custody.ts";
import type { InstructionLayout } from "../instructions/instruction-layout.ts";
import type { WireTransaction } from "./wire-transaction.ts";

/** What an instruction of the two programs does to its subject; `other` leaves no trace that shows whether it ran. */
type EffectKind = "create" | "settle" | "archive" | "register" | "other";

/** One effect that a transaction would have if it succeeded. */
export type RelayedEffect = {
  readonly kind: EffectKind;
  /** The escrow or the merchant account; for settings the config or the registry. */
  readonly subject: Address;
};

const KINDS: Readonly<Record<string, EffectKind>> = {
  create_escrow: "create",
  release_escrow: "settle",
  release_partial: "settle",
  claim_refund: "settle",
  cancel_escrow: "settle",
  archive_escrow: "archive",
  register_merchant: "register",
};

/** The names of subjects, the first that an instruction has. */
const SUBJECTS = ["escrow", "merchant", "config", "registry", "admin"];

type Called = {
  readonly program: Address;
  readonly data: Uint8Array | null;
  readonly accounts: ReadonlyArray<Address | undefined>;
};

const layoutOf = ({ program, data }: Called, deployment: Deployment) => {
  const layouts: Readonly<Record<string, InstructionLayout>> =
    program === deployment.custodyProgram ? CUSTODY_INSTRUCTIONS : ATTESTOR_INSTRUCTIONS;
  return Object.entries(layouts).find(([, { discriminator }]) =>
    discriminator.every((byte, i) => data?.[i] === byte),
  );
};

/** The effect of one call of the two programs, null when its subject cannot be told. */
const effectOf = (called: Called, deployment: Deployment): RelayedEffect | null => {
  const found = layoutOf(called, deployment);
  if (found === undefined) return null;
  const [name, { accounts }] = found;
  const place = SUBJECTS.map((subject) => accounts[subject]?.place).find((at) => at !== undefined);
  const subject = place === undefined ? undefined : called.accounts[place];
  return subject === undefined ? null : { kind: KINDS[name] ?? "other", subject };
};

const isOurs = (program: Address, { custodyProgram, attestorProgram }: Deployment): boolean =>
  program === custodyProgram || program === attestorProgram;

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
    .map(({ program, data, accounts }) =>
      effectOf(
        { program, data, accounts: accounts.map((place) => staticAccounts[place]) },
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
  failed
    ? []
    : instructions.flatMap((called) => {
        const effect = isOurs(called.program, deployment) ? effectOf(called, deployment) : null;
        return effect === null ? [] : [effect];
      });

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

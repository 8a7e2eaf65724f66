import type { Address } from "../../../domain/address.ts";
import type {
  OpenInstruction,
  Payout,
  PrepareWarning,
} from "../../../domain/escrow/prepared-call.ts";
import { ARCHIVED_ESCROW_LENGTH } from "../../../protocol/accounts/archived-escrow-account.ts";
import { ESCROW_ACCOUNT_LENGTH } from "../../../protocol/accounts/escrow-account.ts";
import { TOKEN_ACCOUNT_LENGTH } from "../../../protocol/accounts/token.ts";
import { associatedTokenAddress } from "../../../protocol/addresses/addresses.ts";
import { NATIVE_MINT } from "../../../protocol/addresses/well-known-addresses.ts";
import { openAssociatedToken } from "../../../protocol/instructions/account-instructions.ts";
import { returnRentInstruction } from "../../../protocol/instructions/custody-instructions.ts";
import { isVacant } from "../../../protocol/rules/custody-call.ts";
import { depositFor } from "../../../protocol/rules/lamport-rules.ts";
import { choosePayout } from "../../../protocol/rules/payout-rules.ts";
import {
  fittingForm,
  followUps,
  type SettlementParts,
} from "../../../protocol/rules/settlement-form.ts";
import type { DraftCall } from "./finish-call.ts";
import { heldIn, isFrozenVault, type Surroundings } from "./escrow-surroundings.ts";

/** One side of a settlement, and the account it named in place of its associated one. */
export type Side = {
  readonly whose: Payout["whose"];
  readonly fallback: Address | null;
};

type Paid = {
  /** Whether it can be paid: the ledger shows a usable account, or none yet at the associated address. */
  readonly isPayable: boolean;
  readonly opens: ReadonlyArray<OpenInstruction>;
  readonly payout: Payout;
  readonly warnings: ReadonlyArray<PrepareWarning>;
  readonly deposits: DraftCall["cost"]["deposits"];
};

const paid = ({ escrow, find, rent }: Surroundings, { whose, fallback }: Side): Paid => {
  const { mint } = escrow;
  const owner = whose === "merchant" ? escrow.merchant : escrow.agentOwner;
  const address = associatedTokenAddress(owner, mint);
  const associated = find(address);
  const named = fallback === null ? null : find(fallback);
  const choice = choosePayout({ owner, mint, associated, fallback: named });
  const isCreated = choice.kind === "associated" && choice.isAbsent;
  const isFallback = choice.kind === "fallback";
  const account = isFallback && fallback !== null ? fallback : address;
  const rights = choice.kind === "associated" ? choice : undefined;
  const lamports = isCreated ? depositFor(associated, TOKEN_ACCOUNT_LENGTH, rent) : 0n;
  return {
    isPayable: choice.kind !== "none",
    opens: isCreated ? [openAssociatedToken(owner, mint)] : [],
    payout: { whose, account, isFallback, isCreated },
    warnings: [
      ...(rights?.hasDelegate === true ? [`${whose}_account_has_delegate` as const] : []),
      ...(rights?.hasCloseAuthority === true
        ? [`${whose}_account_has_close_authority` as const]
        : []),
    ],
    deposits: isCreated ? [{ account: address, lamports }] : [],
  };
};

/**
 * The lamports that the vault gives to the escrow account when it is closed: without those of wrapped SOL, which are
 * paid out as tokens.
 */
const rentOfVault = (surroundings: Surroundings): bigint => {
  const { vault, escrow } = surroundings;
  if (vault === null || isVacant(vault)) return 0n;
  return vault.lamports - (escrow.mint === NATIVE_MINT ? heldIn(surroundings) : 0n);
};

type Returns = Pick<DraftCall["cost"], "returnedAtSettlement" | "returnedAtArchiving" | "kept">;

/**
 * What comes back of the escrow's lamports: once it is settled and its vault closed all above its own rent, and all
 * above the tombstone's at archiving. The rest stays. The runtime lets nobody change an executable account's lamports:
 * such a rent payer gets nothing back.
 */
export const returnsOf = (surroundings: Surroundings): Returns => {
  const { account, escrow, find, rent } = surroundings;
  const whole = account.lamports + rentOfVault(surroundings);
  if (find(escrow.rentPayer)?.executable === true)
    return { returnedAtSettlement: 0n, returnedAtArchiving: 0n, kept: whole };
  const above = (bytes: number, lamports: bigint): bigint => {
    const spare = lamports - rent.minimumBalance(bytes);
    return spare > 0n ? spare : 0n;
  };
  const isArchived = account.data.length === ARCHIVED_ESCROW_LENGTH;
  const own = isArchived ? ARCHIVED_ESCROW_LENGTH : ESCROW_ACCOUNT_LENGTH;
  const returnedAtSettlement = above(own, whole);
  const left = whole - returnedAtSettlement;
  const returnedAtArchiving = above(ARCHIVED_ESCROW_LENGTH, left);
  return { returnedAtSettlement, returnedAtArchiving, kept: left - returnedAtArchiving };
};

/** Whether `return_rent` moves these lamports: there are any, and the rent payer's account may hold them. */
export const canReturn = ({ escrow, find, rent }: Surroundings, lamports: bigint): boolean => {
  const payer = find(escrow.rentPayer);
  const held = payer?.lamports ?? 0n;
  const least = rent.minimumBalance(payer?.data.length ?? 0);
  return lamports > 0n && payer?.executable !== true && held + lamports >= least;
};

/** When less of an escrow's time is left, a settlement goes alone: nothing that follows it may keep it from landing. */
const BARE_SECONDS = 60n;

/** What a payment or settlement is made of. */
type Plan = Pick<DraftCall, "operation" | "until"> & {
  /** The payment or settlement, behind its Ed25519 instruction. */
  readonly calls: ReadonlyArray<OpenInstruction>;
  /** Whom `calls` pay, null for nobody. */
  readonly side: Side | null;
  /**
   * What may follow in the same transaction: nothing, `return_rent` behind a call that closes the vault, or the agent's
   * rest and then the rent behind one that leaves `released` base units with the merchant in all.
   */
  readonly follows: null | "rent" | { readonly released: bigint };
  readonly payer: Address | null;
  /** Whether the settlement alone is wanted. */
  readonly isBare: boolean;
};

type Following = Pick<SettlementParts, "claim" | "rent"> & { readonly rest: Paid | null };
const NOTHING: Following = { claim: [], rent: [], rest: null };

const following = (surroundings: Surroundings, { follows, until, isBare }: Plan): Following => {
  const { escrow, find, at, view } = surroundings;
  const isLate = until !== null && until - at.ledgerTime < BARE_SECONDS;
  if (follows === null || isBare || isLate) return NOTHING;
  const lamports = returnsOf(surroundings).returnedAtSettlement;
  const hasRent = canReturn(surroundings, lamports);
  const target = { escrow: escrow.address, rentPayer: escrow.rentPayer };
  if (follows === "rent") {
    const lastBytes = surroundings.lastBytes ?? undefined;
    const rent = returnRentInstruction(view.deployment, { ...target, lastBytes });
    return { ...NOTHING, rent: hasRent ? [rent] : [] };
  }
  const { released } = follows;
  const held = heldIn(surroundings);
  const closesVault = released === escrow.amount;
  const agentTokens = find(associatedTokenAddress(escrow.agentOwner, escrow.mint));
  const left = { released, held, agentTokens, agentFallback: null, closesVault };
  const { claim, rent } = followUps(view.deployment, escrow, left);
  if (claim.length > 0 && isFrozenVault(surroundings)) return NOTHING;
  const isPaid = claim.length > 0 && held > released - escrow.released;
  return {
    claim,
    rent: hasRent ? rent : [],
    rest: isPaid ? paid(surroundings, { whose: "agent", fallback: null }) : null,
  };
};

/** A settlement, and the sides that have no account that can receive tokens. */
export type SettlementDraft = DraftCall & { readonly unpayable: ReadonlyArray<Payout> };

/**
 * A payment or a settlement with its payouts and costs: first the instruction that makes the payee's missing account,
 * then `calls`, then `claim_refund` and `return_rent` as far as they fit. It does not check whether the ledger would
 * accept it.
 */
export const settlementDraft = (surroundings: Surroundings, plan: Plan): SettlementDraft => {
  const { operation, calls, side, payer, until } = plan;
  const to = side === null ? null : paid(surroundings, side);
  const deposits = to?.deposits ?? [];
  const returns = returnsOf(surroundings);
  const { claim, rent, rest } = following(surroundings, plan);
  const form = fittingForm({ operation, opens: to?.opens ?? [], calls, claim, rent }, payer);
  const isIn = (part: ReadonlyArray<OpenInstruction>) =>
    part.some((each) => form.instructions.includes(each));
  const sides = [to, isIn(claim) ? rest : null].filter((each) => each !== null);
  return {
    operation,
    before: form.before,
    instructions: form.instructions,
    unpayable: to === null || to.isPayable ? [] : [to.payout],
    payouts: sides.map(({ payout }) => payout),
    warnings: [...new Set(sides.flatMap(({ warnings }) => warnings))],
    until,
    cost: {
      deposits,
      ...returns,
      kept: returns.kept + deposits.reduce((sum, { lamports }) => sum + lamports, 0n),
    },
    returnedToPayer:
      isIn(rent) && payer === surroundings.escrow.rentPayer ? returns.returnedAtSettlement : 0n,
  };
};

import type { Address } from "../../../domain/address.ts";
import type {
  OpenInstruction,
  Payout,
  PrepareWarning,
} from "../../../domain/escrow/prepared-call.ts";
import { ARCHIVED_ESCROW_LENGTH } from "../../../protocol/accounts/archived-escrow-account.ts";
import { decodeTokenAccount, TOKEN_ACCOUNT_LENGTH } from "../../../protocol/accounts/token.ts";
import { associatedTokenAddress } from "../../../protocol/addresses/addresses.ts";
import { NATIVE_MINT } from "../../../protocol/addresses/well-known-addresses.ts";
import { openAssociatedToken } from "../../../protocol/instructions/account-instructions.ts";
import { depositFor } from "../../../protocol/rules/lamport-rules.ts";
import { choosePayout } from "../../../protocol/rules/payout-rules.ts";
import type { DraftCall } from "./finish-call.ts";
import type { Surroundings } from "./escrow-surroundings.ts";

/** One side of a settlement, and the account it named in place of its associated one. */
export type Side = {
  readonly whose: Payout["whose"];
  readonly fallback: Address | null;
};

type Paid = {
  /** Whether it can be paid: the ledger shows a usable account, or none yet at the associated address. */
  readonly isPayable: boolean;
  readonly instructions: ReadonlyArray<OpenInstruction>;
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
    instructions: isCreated ? [openAssociatedToken(owner, mint)] : [],
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

/** The lamports that archiving pays back to the rent payer. The rest stays in the tombstone. */
export const atArchiving = ({ account, find, escrow, rent }: Surroundings) => {
  const minimum = rent.minimumBalance(ARCHIVED_ESCROW_LENGTH);
  // The runtime lets nobody change an executable account's lamports. Such a rent payer gets nothing back.
  const isPayable = find(escrow.rentPayer)?.executable !== true;
  const spare = account.lamports > minimum && isPayable ? account.lamports - minimum : 0n;
  return { returnedAtArchiving: spare, kept: account.lamports - spare };
};

/**
 * The lamports that the vault gives back when it is closed: without those of wrapped SOL, which are paid out as tokens.
 */
const rentOfVault = ({ vault, escrow }: Surroundings): bigint => {
  if (vault === null) return 0n;
  const wrapped = escrow.mint === NATIVE_MINT ? (decodeTokenAccount(vault)?.amount ?? 0n) : 0n;
  return vault.lamports - wrapped;
};

/** A settlement, and the sides that have no account that can receive tokens. */
export type SettlementDraft = DraftCall & { readonly unpayable: ReadonlyArray<Payout> };

/**
 * A settlement that pays these sides, with its payouts and costs: first the instructions that make missing payout
 * accounts, then `calls`. It does not check whether the ledger would accept it.
 */
export const settlementDraft = (
  surroundings: Surroundings,
  {
    operation,
    calls,
    sides,
    payer,
    until,
  }: Pick<DraftCall, "operation" | "until"> & {
    readonly calls: ReadonlyArray<OpenInstruction>;
    readonly sides: ReadonlyArray<Side>;
    readonly payer: Address | null;
  },
): SettlementDraft => {
  const { escrow, find } = surroundings;
  const all = sides.map((side) => paid(surroundings, side));
  // One wallet can be on both sides, and its account is made once.
  const created = new Set<Address>();
  const fresh = all.filter(({ payout }) => {
    const isFirst = payout.isCreated && !created.has(payout.account);
    if (isFirst) created.add(payout.account);
    return isFirst;
  });
  const deposits = fresh.flatMap((each) => each.deposits);
  const archiving = atArchiving(surroundings);
  const isPayable = find(escrow.rentPayer)?.executable !== true;
  const ofVault = rentOfVault(surroundings);
  const returnedAtSettlement = isPayable ? ofVault : 0n;
  const inOthers = deposits.reduce((sum, { lamports }) => sum + lamports, 0n);
  return {
    operation,
    instructions: [...fresh.flatMap((each) => each.instructions), ...calls],
    unpayable: all.flatMap((each) => (each.isPayable ? [] : [each.payout])),
    payouts: all.map(({ payout }) => payout),
    warnings: [...new Set(all.flatMap(({ warnings }) => warnings))],
    until,
    cost: {
      deposits,
      returnedAtSettlement,
      returnedAtArchiving: archiving.returnedAtArchiving,
      // The vault of a rent payer that became a program goes into the escrow account.
      kept: archiving.kept + inOthers + (isPayable ? 0n : ofVault),
    },
    returnedToPayer: payer === escrow.rentPayer ? returnedAtSettlement : 0n,
  };
};

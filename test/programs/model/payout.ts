import type { Address } from "../../../core/domain/address.ts";
import type { Escrow } from "./account.ts";
import { CUSTODY, TOKEN_FROZEN, type Verdict } from "./call.ts";
import type { Privileges } from "./shape.ts";
import { associatedOf, type Draft, PROGRAMS } from "./world.ts";

/** A payee as named in an instruction. */
export type Payee = {
  readonly wallet: Address;
  readonly associated: Address;
  /** The bump that the instruction gives for the associated account's address. */
  readonly bump: number;
  readonly fallback: Address;
  /** The refusal of an account that is not the payee's. */
  readonly wrong: number;
};

/** The account that is paid, undefined when none can be: docs/protocol.md, "Payout". */
export const choosePayout = (
  verdict: Verdict,
  draft: Draft,
  { wallet, associated, bump, fallback, wrong }: Payee,
  mint: Address,
  { writes }: Privileges,
): Address | undefined => {
  const expected = associatedOf(wallet, mint);
  verdict.require(associated === expected.address && bump === expected.bump, wrong);
  const first = draft.at(associated).content;
  if (first.kind !== "token" || first.mint !== mint) {
    verdict.require(false, CUSTODY.PayoutAccountMissing);
    return undefined;
  }
  if (first.holder === wallet && !first.frozen) return associated;
  if (!verdict.require(fallback !== PROGRAMS.custodyProgram, CUSTODY.PayoutAccountUnusable))
    return undefined;
  const second = draft.at(fallback).content;
  if (second.kind !== "token" || second.mint !== mint || second.holder !== wallet) {
    verdict.require(false, wrong);
    return undefined;
  }
  verdict.require(!second.frozen, CUSTODY.PayoutAccountUnusable);
  verdict.require(
    second.delegate === null && second.closeAuthority === null,
    CUSTODY.PayoutAccountShared,
  );
  verdict.require(writes(fallback), CUSTODY.AccountNotWritable);
  return fallback;
};

/** Moves base units between token accounts. */
export const moveTokens = (draft: Draft, from: Address, to: Address, amount: bigint): void => {
  for (const [address, change] of [
    [from, -amount],
    [to, amount],
  ] as const) {
    const account = draft.at(address);
    if (account.content.kind !== "token") throw new Error(`${address} holds no tokens`);
    const content = { ...account.content, amount: account.content.amount + change };
    draft.put(address, { ...account, content });
  }
};

/** Base units in a token account. @throws Error when there is none. */
export const tokensIn = (draft: Draft, address: Address): bigint => {
  const { content } = draft.at(address);
  if (content.kind !== "token") throw new Error(`${address} holds no tokens`);
  return content.amount;
};

/** Checks the rules for vault, recorded rent payer and token program. */
export const requireVault = (
  verdict: Verdict,
  draft: Draft,
  escrow: { readonly address: Address; readonly data: Escrow },
  given: { readonly vault: Address; readonly rentPayer: Address },
): void => {
  const { mint, amount, rentPayer } = escrow.data;
  const vault = draft.at(given.vault).content;
  const isVault =
    given.vault === associatedOf(escrow.address, mint).address &&
    vault.kind === "token" &&
    vault.mint === mint &&
    vault.holder === escrow.address &&
    vault.amount >= amount;
  verdict.require(isVault, CUSTODY.WrongVault);
  verdict.require(given.rentPayer === rentPayer, CUSTODY.WrongRentPayer);
  if (vault.kind === "token") verdict.require(!vault.frozen, TOKEN_FROZEN);
};

/** Closes the empty vault: its lamports go to the rent payer, or to the escrow when the rent payer is a program. */
export const closeVault = (
  draft: Draft,
  vault: Address,
  escrow: Address,
  rentPayer: Address,
): void => {
  const { lamports } = draft.at(vault);
  const isProgram = draft.at(rentPayer).content.kind === "program";
  draft.put(vault, { lamports: 0n, content: { kind: "wallet" } });
  draft.pay(isProgram ? escrow : rentPayer, lamports);
};

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
  const own = first.kind === "token" && first.mint === mint && first.holder === wallet;
  if (own && !first.frozen) {
    verdict.require(writes(associated), CUSTODY.AccountNotWritable);
    return associated;
  }
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

/** The units in an escrow's vault, which must be there; undefined and a refusal where it is not. */
export const requireVault = (
  verdict: Verdict,
  draft: Draft,
  address: Address,
  escrow: Escrow,
  vault: Address,
): bigint | undefined => {
  const { content } = draft.at(vault);
  const { mint, amount, released, state } = escrow;
  const owed = state === 0 ? amount - released : 0n;
  if (
    vault !== associatedOf(address, mint).address ||
    content.kind !== "token" ||
    content.mint !== mint ||
    content.holder !== address ||
    content.amount < owed
  ) {
    verdict.require(false, CUSTODY.WrongVault);
    return undefined;
  }
  // Nothing leaves a frozen account; an empty one can be closed all the same.
  if (content.amount > 0n) verdict.require(!content.frozen, TOKEN_FROZEN);
  return content.amount;
};

/** Closes the empty vault: its lamports go into the escrow account, whoever paid them. */
export const closeVault = (draft: Draft, vault: Address, escrow: Address): void => {
  const { lamports } = draft.at(vault);
  draft.put(vault, { lamports: 0n, content: { kind: "wallet" } });
  draft.pay(escrow, lamports);
};

/** Makes an absent vault of an escrow, or leaves the one that is there. */
export const emptyVault = (mint: Address, escrow: Address) =>
  ({
    kind: "token",
    mint,
    holder: escrow,
    amount: 0n,
    delegate: null,
    closeAuthority: null,
    frozen: false,
  }) as const;

import type { Address } from "../../domain/address.ts";
import type { LedgerAccount } from "../../domain/ledger/account.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import type { SettlementFault } from "../../domain/relay/settlement-rule.ts";
import { decodeTokenAccount, type TokenAccount } from "../accounts/token.ts";
import { associatedToken } from "../addresses/addresses.ts";
import { type CustodyCall, isVacant } from "./custody-call.ts";

type Place = { readonly place: number };

/** A payee, and its two accounts in the instruction: the associated one and the fallback. */
type Payee = {
  readonly whose: "merchant" | "agent";
  readonly mint: Address;
  readonly owner: Address;
  /** The bump of the associated account's address, as the instruction gives it. */
  readonly bump: number;
  readonly associated: Place;
  readonly fallback: Place;
};

/** The delegate or foreign close authority of the account, in words; undefined when it has neither. */
const otherHolder = ({ delegate, closeAuthority }: TokenAccount): string | undefined => {
  if (delegate !== null) return `the delegate ${delegate}`;
  return closeAuthority === null ? undefined : `the close authority ${closeAuthority}`;
};

const fallbackFault = (
  call: CustodyCall,
  { whose, mint, owner, fallback }: Payee,
  reason: string,
  deployment: Deployment,
): SettlementFault | undefined => {
  const address = call.accounts[fallback.place];
  if (address === deployment.custodyProgram)
    return {
      rule: "payout_account_unusable",
      detail: `${reason}, and the instruction names no other account of the ${whose}'s`,
    };
  const account = address === undefined ? undefined : call.found(address);
  if (account === undefined) return undefined;
  const token = decodeTokenAccount(account);
  const named = `the ${whose}'s fallback account ${address}`;
  if (token === undefined)
    return {
      rule: "payout_account_wrong_owner",
      detail: `${named} is not an SPL Token account but belongs to the program ${account.owner}`,
    };
  if (token.owner !== owner)
    return {
      rule: "payout_account_wrong_owner",
      detail: `${named} belongs to ${token.owner} and must belong to the ${whose}'s wallet ${owner}`,
    };
  if (token.mint !== mint)
    return {
      rule: "payout_account_wrong_mint",
      detail: `${named} is of the mint ${token.mint} and must be of the escrow's mint ${mint}`,
    };
  if (token.frozen)
    return { rule: "payout_account_unusable", detail: `${reason}, and ${named} is frozen as well` };
  const other = otherHolder(token);
  return other === undefined
    ? undefined
    : { rule: "payout_account_shared", detail: `${named} has ${other}` };
};

/** Why a payee's associated account cannot be paid, undefined when it can or that is not known before sending. */
const unusable = (
  call: CustodyCall,
  { whose, owner, mint }: Payee,
  address: Address,
): string | undefined => {
  const named = `the ${whose}'s associated account ${address}`;
  if (call.isTouched(address)) return undefined;
  const account = call.found(address);
  const token = account && decodeTokenAccount(account);
  if (token === undefined) return `${named} is absent`;
  if (token.owner !== owner) return `${named} belongs to ${token.owner}`;
  if (token.mint !== mint) return `${named} is of the mint ${token.mint}`;
  return token.frozen ? `${named} is frozen` : undefined;
};

/**
 * Why a payee cannot be paid: the associated account must be named, with its bump; when it is absent, frozen or has
 * another owner, the fallback must be a token account of the payee without delegate or foreign close authority. See
 * docs/protocol.md, "Payout".
 */
export const payoutFault = (
  call: CustodyCall,
  payee: Payee,
  deployment: Deployment,
): SettlementFault | undefined => {
  const { whose, mint, owner, bump } = payee;
  const { address, bump: canonical } = associatedToken(owner, mint);
  const given = call.accounts[payee.associated.place];
  if (given !== address || bump !== canonical)
    return {
      rule: "payout_account_not_associated",
      detail: `the ${whose}'s payout account is ${given} with the bump ${bump} and must be the associated one of the ${whose}'s wallet, ${address} with the bump ${canonical}`,
    };
  const reason = unusable(call, payee, address);
  return reason === undefined ? undefined : fallbackFault(call, payee, reason, deployment);
};

/** Where a payee is paid by the ledger's present state, or that nowhere. */
type PayoutChoice =
  | {
      readonly kind: "associated";
      /** Whether the account is absent and no fallback can be paid, so that an earlier instruction must make it. */
      readonly isAbsent: boolean;
      readonly hasDelegate: boolean;
      readonly hasCloseAuthority: boolean;
    }
  | { readonly kind: "fallback" }
  /** The associated account is frozen or has another owner, and no fallback that can receive tokens is named. */
  | { readonly kind: "none" };

/** Whether an account is not frozen and has neither delegate nor foreign close authority. */
const isOwnOnly = ({ frozen, delegate, closeAuthority }: TokenAccount): boolean =>
  !frozen && delegate === null && closeAuthority === null;

/**
 * Which of a payee's two accounts the program would pay. An account is null when the ledger has none. See
 * docs/protocol.md, "Payout".
 */
export const choosePayout = (payee: {
  readonly owner: Address;
  readonly mint: Address;
  readonly associated: LedgerAccount | null;
  readonly fallback: LedgerAccount | null;
}): PayoutChoice => {
  const { owner, mint, associated, fallback } = payee;
  const isAbsent = associated === null || isVacant(associated);
  const token = isAbsent ? undefined : decodeTokenAccount(associated);
  if (token?.owner === owner && token.mint === mint && !token.frozen)
    return {
      kind: "associated",
      isAbsent: false,
      hasDelegate: token.delegate !== null,
      hasCloseAuthority: token.closeAuthority !== null,
    };
  const other = fallback === null ? undefined : decodeTokenAccount(fallback);
  if (other?.owner === owner && other.mint === mint && isOwnOnly(other))
    return { kind: "fallback" };
  return isAbsent
    ? { kind: "associated", isAbsent, hasDelegate: false, hasCloseAuthority: false }
    : { kind: "none" };
};

import type { Address } from "../../domain/address.ts";
import type { SettlementFault } from "../../domain/relay/settlement-rule.ts";
import { associatedTokenAddress } from "../addresses/addresses.ts";
import { decodeTokenAccount, type TokenAccount } from "../accounts/token.ts";
import type { CustodyCall } from "./custody-call.ts";

/** What a payout account must be. */
export type Payout = {
  readonly whose: "merchant" | "agent";
  readonly place: number;
  readonly mint: Address;
  readonly owner: Address;
};

/** Who besides the owner has a right on the account, in words; undefined where nobody has. */
const otherHolder = ({ delegate, closeAuthority }: TokenAccount): string | undefined => {
  if (delegate !== null) return `the delegate ${delegate}`;
  return closeAuthority === null ? undefined : `the close authority ${closeAuthority}`;
};

/**
 * A payout account that exists must be an SPL Token account of the escrow's mint, of the payee's wallet, and nobody else may
 * have a right on it unless it is the associated one.
 */
export const payoutFault = (
  call: CustodyCall,
  { whose, place, mint, owner }: Payout,
): SettlementFault | undefined => {
  const address = call.accounts[place];
  const account = address === undefined ? undefined : call.found(address);
  if (account === undefined) return undefined;
  const token = decodeTokenAccount(account);
  const named = `the ${whose}'s payout account ${address}`;
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
  const other = otherHolder(token);
  if (other === undefined) return undefined;
  const associated = associatedTokenAddress(owner, mint);
  return address === associated
    ? undefined
    : {
        rule: "payout_account_shared",
        detail: `${named} has ${other}; only the associated account of the ${whose}'s wallet, ${associated}, is paid with one`,
      };
};

import type { Address } from "../../domain/address.ts";
import type { LedgerAccount } from "../../domain/ledger/account.ts";
import { decodeTokenAccount, type TokenAccount } from "../accounts/token.ts";
import { isVacant } from "./custody-call.ts";

/** The account that pays a payee by the ledger's present state, or why none can. */
export type PayoutChoice =
  | {
      readonly kind: "associated";
      /** Whether the account is absent, so that an earlier instruction must make it. */
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
 * Which of a payee's two accounts the program would pay. An account is null when the ledger has none. See docs/protocol.md,
 * "Payout".
 */
export const choosePayout = (payee: {
  readonly owner: Address;
  readonly mint: Address;
  readonly associated: LedgerAccount | null;
  readonly fallback: LedgerAccount | null;
}): PayoutChoice => {
  const { owner, mint, associated, fallback } = payee;
  if (associated === null || isVacant(associated))
    return { kind: "associated", isAbsent: true, hasDelegate: false, hasCloseAuthority: false };
  const token = decodeTokenAccount(associated);
  if (token?.owner === owner && token.mint === mint && !token.frozen)
    return {
      kind: "associated",
      isAbsent: false,
      hasDelegate: token.delegate !== null,
      hasCloseAuthority: token.closeAuthority !== null,
    };
  const other = fallback === null ? undefined : decodeTokenAccount(fallback);
  return other?.owner === owner && other.mint === mint && isOwnOnly(other)
    ? { kind: "fallback" }
    : { kind: "none" };
};

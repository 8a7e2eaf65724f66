import type { Address } from "../../domain/address.ts";
import {
  type Instruction,
  readonly,
  writable,
  writableSigner,
} from "../../domain/ledger/instruction.ts";
import type { LedgerAccount } from "../../domain/ledger/account.ts";
import { associatedTokenAddress } from "../addresses/addresses.ts";
import { fieldsOf } from "./byte-fields.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../addresses/well-known-addresses.ts";

/**
 * The length in bytes of every SPL Token account, and of every mint (SPL Token, `state.rs`: `Account::LEN`,
 * `Mint::LEN`).
 */
export const TOKEN_ACCOUNT_LENGTH = 165;
const MINT_LENGTH = 82;
const MINT_IS_INITIALIZED = 45;

/** Whether an account is an initialised mint of the classic token program, the only one that custody accepts. */
export const isClassicMint = ({ owner, data }: Pick<LedgerAccount, "owner" | "data">): boolean =>
  owner === TOKEN_PROGRAM && data.length === MINT_LENGTH && data[MINT_IS_INITIALIZED] === 1;

/**
 * Decimals of a mint that custody takes, [0, 255]; undefined for any other account (SPL Token, `state.rs`: decimals
 * 44).
 */
export const mintDecimals = (account: Pick<LedgerAccount, "owner" | "data">): number | undefined =>
  isClassicMint(account) ? account.data[44] : undefined;

/** The part of an SPL Token account that settlement depends on. */
export type TokenAccount = {
  readonly mint: Address;
  readonly owner: Address;
  /** Base units, u64. */
  readonly amount: bigint;
  readonly frozen: boolean;
  /** Who besides the owner may transfer out of it, null where nobody may. */
  readonly delegate: Address | null;
  /**
   * Who may close it in place of the owner, null when nobody may. Closing an account of wrapped SOL pays out all that
   * it holds.
   */
  readonly closeAuthority: Address | null;
};

/**
 * An initialised SPL Token account of 165 bytes (SPL Token, `state.rs`: mint 0, owner 32, amount 64,
 * delegate 72, state 108, close authority 129; an optional address is u32 LE 1 and the address, or 0 and
 * anything), or undefined when the account is none.
 */
export const decodeTokenAccount = (
  account: Pick<LedgerAccount, "owner" | "data">,
): TokenAccount | undefined => {
  if (account.owner !== TOKEN_PROGRAM || account.data.length !== TOKEN_ACCOUNT_LENGTH)
    return undefined;
  const fields = fieldsOf(account.data);
  const state = fields.u8(108);
  if (state !== 1 && state !== 2) return undefined;
  const optional = (at: number) => (fields.u32(at) === 0 ? null : fields.address(at + 4));
  return {
    mint: fields.address(0),
    owner: fields.address(32),
    amount: fields.u64(64),
    frozen: state === 2,
    delegate: optional(72),
    closeAuthority: optional(129),
  };
};

/** The Associated Token program's CreateIdempotent: makes the wallet's account for a mint if it is missing. */
export const createAssociatedTokenInstruction = (input: {
  readonly payer: Address;
  readonly owner: Address;
  readonly mint: Address;
}): Instruction => ({
  programAddress: ASSOCIATED_TOKEN_PROGRAM,
  accounts: [
    writableSigner(input.payer),
    writable(associatedTokenAddress(input.owner, input.mint)),
    readonly(input.owner),
    readonly(input.mint),
    readonly(SYSTEM_PROGRAM),
    readonly(TOKEN_PROGRAM),
  ],
  data: Uint8Array.of(1),
});

import type { Address } from "../../../../core/domain/address.ts";
import { fieldsOf } from "../../../../core/protocol/accounts/byte-fields.ts";
import type { AccountState } from "./account-store.ts";

const TOKEN_PROGRAMS: ReadonlySet<string> = new Set([
  "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
  "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb",
]);

/** Whether the address is one of the two SPL token programs. */
export const isTokenProgram = (program: string): boolean => TOKEN_PROGRAMS.has(program);

/** The fields of an initialized token account, of either SPL token program. */
export type TokenHolding = {
  readonly mint: Address;
  readonly holder: Address;
  /** Base units, u64. */
  readonly amount: bigint;
};

/** Token-2022 stores the kind of an account with extensions at byte 165: 1 for a mint, 2 for a token account. */
const isHolding = (data: Uint8Array): boolean =>
  data.length === 165 || (data.length > 165 && data[165] === 2);
const isMint = (data: Uint8Array): boolean =>
  data.length === 82 || (data.length > 165 && data[165] === 1);

/** The token account in this state; undefined when it is not one (SPL Token `state.rs`: Account). */
export const tokenHolding = (state: AccountState | undefined): TokenHolding | undefined => {
  if (state === undefined || !isTokenProgram(state.owner) || !isHolding(state.data))
    return undefined;
  if (state.data[108] === 0) return undefined;
  const fields = fieldsOf(state.data);
  return { mint: fields.address(0), holder: fields.address(32), amount: fields.u64(64) };
};

/** Supply in base units and decimals of the mint in this state; undefined when it is not one (`state.rs`: Mint). */
export const tokenMint = (
  state: AccountState | undefined,
): { readonly supply: bigint; readonly decimals: number } | undefined =>
  state === undefined || !isTokenProgram(state.owner) || !isMint(state.data) || state.data[45] !== 1
    ? undefined
    : { supply: fieldsOf(state.data).u64(36), decimals: state.data[44] ?? 0 };

/** A token amount as RPC answers show it. */
export type UiTokenAmount = {
  readonly amount: string;
  readonly decimals: number;
  readonly uiAmount: number | null;
  readonly uiAmountString: string;
};

/** Base units with the mint's decimals. `uiAmountString` has no trailing zeros. */
export const uiTokenAmount = (amount: bigint, decimals: number): UiTokenAmount => {
  const digits = amount.toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  const text = fraction === "" ? whole : `${whole}.${fraction}`;
  return { amount: amount.toString(), decimals, uiAmount: Number(text), uiAmountString: text };
};

/** One entry of a transaction's pre or post token balances. */
export type TokenBalance = {
  readonly accountIndex: number;
  readonly mint: Address;
  readonly owner: Address;
  readonly programId: Address;
  readonly uiTokenAmount: UiTokenAmount;
};

/** The token balances among accounts, in order. Leaves out accounts whose mint cannot be read. */
export const tokenBalances = (
  states: ReadonlyArray<AccountState | undefined>,
  readMint: (mint: Address) => AccountState | undefined,
): ReadonlyArray<TokenBalance> =>
  states.flatMap((state, accountIndex) => {
    const holding = tokenHolding(state);
    if (state === undefined || holding === undefined) return [];
    const mint = tokenMint(readMint(holding.mint));
    if (mint === undefined) return [];
    return [
      {
        accountIndex,
        mint: holding.mint,
        owner: holding.holder,
        programId: state.owner,
        uiTokenAmount: uiTokenAmount(holding.amount, mint.decimals),
      },
    ];
  });

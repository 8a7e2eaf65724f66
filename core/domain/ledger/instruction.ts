import type { Address } from "../address.ts";

/** What a transaction may do with an account; the numbers are those of `@solana/kit`'s AccountRole. */
export const AccountRole = {
  readonly: 0,
  writable: 1,
  readonlySigner: 2,
  writableSigner: 3,
} as const;
export type AccountRole = (typeof AccountRole)[keyof typeof AccountRole];

/** One account of an instruction, in the place the program expects it. */
export type AccountMeta = { readonly address: Address; readonly role: AccountRole };

/** An unsigned instruction, complete but for the transaction around it. */
export type Instruction = {
  readonly programAddress: Address;
  readonly accounts: ReadonlyArray<AccountMeta>;
  readonly data: Uint8Array;
};

/** The account as readable only. */
export const readonly = (address: Address): AccountMeta => ({
  address,
  role: AccountRole.readonly,
});
/** The account as writable. */
export const writable = (address: Address): AccountMeta => ({
  address,
  role: AccountRole.writable,
});
/** The account as a signer that is not written. */
export const readonlySigner = (address: Address): AccountMeta => ({
  address,
  role: AccountRole.readonlySigner,
});
/** The account as a signer that is written, such as a payer. */
export const writableSigner = (address: Address): AccountMeta => ({
  address,
  role: AccountRole.writableSigner,
});

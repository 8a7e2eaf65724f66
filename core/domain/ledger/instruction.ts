import type { Address } from "../address.ts";

/** What a transaction may do with an account. The numbers are those of `@solana/kit`'s AccountRole. */
export const AccountRole = {
  readonly: 0,
  writable: 1,
  readonlySigner: 2,
  writableSigner: 3,
} as const;
/** One of the numbers of `AccountRole`, [0, 3]. */
export type AccountRole = (typeof AccountRole)[keyof typeof AccountRole];

/** One account of an instruction. The program expects its accounts in a fixed order. */
export type AccountMeta = { readonly address: Address; readonly role: AccountRole };

/** An unsigned instruction, ready for a transaction. */
export type Instruction = {
  readonly programAddress: Address;
  readonly accounts: ReadonlyArray<AccountMeta>;
  readonly data: Uint8Array;
};

/** The account, read only. */
export const readonly = (address: Address): AccountMeta => ({
  address,
  role: AccountRole.readonly,
});
/** The account, writable. */
export const writable = (address: Address): AccountMeta => ({
  address,
  role: AccountRole.writable,
});
/** The account as a read-only signer. */
export const readonlySigner = (address: Address): AccountMeta => ({
  address,
  role: AccountRole.readonlySigner,
});
/** The account as a writable signer, such as a payer. */
export const writableSigner = (address: Address): AccountMeta => ({
  address,
  role: AccountRole.writableSigner,
});

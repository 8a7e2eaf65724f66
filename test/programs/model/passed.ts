import { createHash } from "node:crypto";
import type { Address } from "../../../core/domain/address.ts";
import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";
import type { Sent } from "./call.ts";
import { PROGRAMS } from "./world.ts";

export type Accounts = ReadonlyMap<Address, LedgerAccount>;

/** A transaction on the ledger: the accounts that it names, its time, and what a byte of rent costs. */
export type Passed = {
  readonly before: Accounts;
  readonly after: Accounts;
  readonly sent: Sent;
  readonly time: bigint;
  readonly rate: bigint;
  readonly associatedOf: (wallet: Address, mint: Address) => Address;
};

export const ESCROW = 416;
export const TOMBSTONE = 96;
export const sha256 = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return new Uint8Array(hash.digest());
};

/** The state of custody's account, archived or not; undefined for any other account. */
export const stateOf = (account: LedgerAccount | undefined): number | undefined => {
  if (account?.owner !== PROGRAMS.custodyProgram) return undefined;
  if (account.data.length === ESCROW) return account.data[10];
  return account.data.length === TOMBSTONE ? account.data[24] : undefined;
};

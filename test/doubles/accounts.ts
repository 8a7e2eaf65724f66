import type { Address } from "../../core/domain/address.ts";
import type { LedgerAccount } from "../../core/domain/ledger/account.ts";
import {
  CLOCK_SYSVAR,
  RENT_SYSVAR,
  SYSTEM_PROGRAM,
} from "../../core/protocol/addresses/well-known-addresses.ts";

import { rentSysvarData } from "../arbitraries/rent-sysvar-data.ts";

/** An account with one lamport by default. */
export const accountOf = (
  address: Address,
  owner: Address,
  data: Uint8Array,
  lamports = 1n,
): LedgerAccount => ({ address, owner, lamports, executable: false, data });

/** The account of a wallet. */
export const walletAccount = (address: Address, lamports: bigint): LedgerAccount =>
  accountOf(address, SYSTEM_PROGRAM, new Uint8Array(), lamports);

/** The data of the Clock sysvar at a time, Unix seconds (Agave `sdk/clock`: `Clock`). */
export const clockData = (seconds: bigint): Uint8Array => {
  const data = new Uint8Array(40);
  new DataView(data.buffer).setBigInt64(32, seconds, true);
  return data;
};

/** The Clock sysvar at a time, Unix seconds. */
export const clockAccount = (seconds: bigint): LedgerAccount =>
  accountOf(CLOCK_SYSVAR, SYSTEM_PROGRAM, clockData(seconds));

/** The Rent sysvar as ledgers have it: 3,480 lamports for a byte and year, two years, half burnt (Agave `rent.rs`). */
export const rentAccount: LedgerAccount = accountOf(
  RENT_SYSVAR,
  SYSTEM_PROGRAM,
  rentSysvarData(3480n, 2),
);

import type { LedgerAccount } from "../../domain/ledger/account.ts";
import type { UnixSeconds } from "../../domain/unix-time.ts";
import { fieldsOf } from "./byte-fields.ts";

/**
 * The ledger's time by its Clock sysvar (Agave `sdk/clock`: unix_timestamp is the i64 at byte 32 of 40),
 * undefined when the account is not that sysvar.
 */
export const decodeClockSysvar = (
  account: Pick<LedgerAccount, "data"> | null,
): UnixSeconds | undefined =>
  account === null || account.data.length !== 40 ? undefined : fieldsOf(account.data).i64(32);

/** The minimum balance of a rent-exempt account, by the size of its data. */
export type Rent = {
  /** Lamports, for `dataLength` bytes of data. */
  readonly minimumBalance: (dataLength: number) => bigint;
};

/** lamports_per_byte_year u64, exemption_threshold f64, burn_percent u8, little-endian (Agave `rent.rs`). */
const RENT_LENGTH = 17;
/** Bytes that rent charges for each account in addition to its data (Agave `rent.rs`: ACCOUNT_STORAGE_OVERHEAD). */
const ACCOUNT_OVERHEAD = 128;

/** The rent that the Rent sysvar states, undefined when the account is missing or of another form. */
export const decodeRentSysvar = (account: LedgerAccount | null): Rent | undefined => {
  if (account === null || account.data.length !== RENT_LENGTH) return undefined;
  const { buffer, byteOffset } = account.data;
  const fields = new DataView(buffer, byteOffset, RENT_LENGTH);
  const perByte = Number(fields.getBigUint64(0, true)) * fields.getFloat64(8, true);
  if (!Number.isFinite(perByte) || perByte < 0) return undefined;
  return {
    minimumBalance: (dataLength) => BigInt(Math.floor((ACCOUNT_OVERHEAD + dataLength) * perByte)),
  };
};

import type { LedgerAccount } from "../../domain/ledger/account.ts";
import type { UnixSeconds } from "../../domain/unix-time.ts";
import { fieldsOf } from "./byte-fields.ts";

/**
 * The ledger's time by its Clock sysvar (Agave `sdk/clock`: unix_timestamp is the i64 at byte 32 of 40),
 * undefined when the account is not that sysvar.
 */
export const decodeClockSysvar = (account: LedgerAccount | null): UnixSeconds | undefined =>
  account === null || account.data.length !== 40 ? undefined : fieldsOf(account.data).i64(32);

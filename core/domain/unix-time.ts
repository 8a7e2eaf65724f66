/** Seconds since 1970-01-01T00:00:00Z by the ledger's clock. */
export type UnixSeconds = bigint;

/** 9999-12-31T23:59:59Z: the last second that `YYYY-MM-DDThh:mm:ssZ` can name. */
export const LAST_UNIX_SECOND: UnixSeconds = 253_402_300_799n;

/** RFC 3339 UTC without fraction, `YYYY-MM-DDThh:mm:ssZ`, of a second in [0, LAST_UNIX_SECOND]. */
export const formatUnixTime = (seconds: UnixSeconds): string => {
  if (seconds < 0n || seconds > LAST_UNIX_SECOND) throw new Error("time out of RFC 3339's range");
  return `${new Date(Number(seconds) * 1000).toISOString().slice(0, 19)}Z`;
};

/** Seconds since 1970-01-01T00:00:00Z by the ledger's clock. */
export type UnixSeconds = bigint;

/** 9999-12-31T23:59:59Z: the last second that `YYYY-MM-DDThh:mm:ssZ` can name. */
export const LAST_UNIX_SECOND: UnixSeconds = 253_402_300_799n;

/** Whether `YYYY-MM-DDThh:mm:ssZ` can name the second. */
export const isUnixTime = (seconds: UnixSeconds): boolean =>
  seconds >= 0n && seconds <= LAST_UNIX_SECOND;

const DAY_SECONDS = 86_400;
/** Times come in runs of the same day, so its date is formatted once. */
let latestDay = { number: 0, text: "1970-01-01T" };

const twoDigits = (value: number): string => (value < 10 ? `0${value}` : `${value}`);

/** RFC 3339 UTC without fraction, `YYYY-MM-DDThh:mm:ssZ`, of a second in [0, LAST_UNIX_SECOND]. */
export const formatUnixTime = (seconds: UnixSeconds): string => {
  if (!isUnixTime(seconds)) throw new Error("time out of RFC 3339's range");
  const whole = Number(seconds);
  const number = Math.floor(whole / DAY_SECONDS);
  if (number !== latestDay.number) {
    const text = new Date(number * DAY_SECONDS * 1000).toISOString().slice(0, 11);
    latestDay = { number, text };
  }
  const second = whole - number * DAY_SECONDS;
  const minute = Math.floor(second / 60);
  const hour = Math.floor(minute / 60);
  return `${latestDay.text}${twoDigits(hour)}:${twoDigits(minute - hour * 60)}:${twoDigits(second - minute * 60)}Z`;
};

/** A second for people: as `formatUnixTime` has it, or its number where the calendar has no four digits for it. */
export const unixTimeText = (seconds: UnixSeconds): string =>
  isUnixTime(seconds) ? formatUnixTime(seconds) : `${seconds} seconds after 1970`;

/** The second that a text of exactly the form `YYYY-MM-DDThh:mm:ssZ` names, undefined for any other text. */
export const parseUnixTime = (text: string): UnixSeconds | undefined => {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/.test(text)) return undefined;
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) return undefined;
  const seconds = BigInt(ms / 1000);
  return seconds >= 0n && formatUnixTime(seconds) === text ? seconds : undefined;
};

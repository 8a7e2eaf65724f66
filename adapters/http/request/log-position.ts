/** The number of an event, and the log that it belongs to. */
export type LogPosition = {
  /** 16 hex digits. */
  readonly logId: string;
  readonly seq: bigint;
};

const LOG_ID_DIGITS = 16;
const LOG_ID = /^[0-9a-f]{16}$/;
/** A decimal without sign or leading zero, below 10^18. */
const DECIMAL = /^(?:0|[1-9][0-9]{0,17})$/;

/** The position in `<log id><separator><number>`, undefined for any other text. */
export const parseLogPosition = (text: string, separator: ":" | "-"): LogPosition | undefined => {
  const logId = text.slice(0, LOG_ID_DIGITS);
  const number = text.slice(LOG_ID_DIGITS + 1);
  return text[LOG_ID_DIGITS] === separator && LOG_ID.test(logId) && DECIMAL.test(number)
    ? { logId, seq: BigInt(number) }
    : undefined;
};

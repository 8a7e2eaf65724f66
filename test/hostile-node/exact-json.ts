/** Marks a number that exceeds what a JavaScript number holds exactly. */
const MARK = "u64:";

/** Parses JSON without rounding: whole numbers of 16 or more digits become marked strings. */
export const parseExactly = (text: string): unknown =>
  JSON.parse(text.replace(/([:[,]\s*)(\d{16,})(?=\s*[,}\]])/g, `$1"${MARK}$2"`));

/** The JSON of what `parseExactly` returned, with the same numbers. */
export const printExactly = (value: unknown): string =>
  JSON.stringify(value).replace(new RegExp(`"${MARK}(\\d+)"`, "g"), "$1");

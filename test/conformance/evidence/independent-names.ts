/** Whether a text can name a key by docs/verify-evidence.md, "The log's policies". */
export const isName = (text: string): boolean =>
  text !== "" &&
  text.length <= 256 &&
  Array.from(text).every((c) => c !== "+" && !/^[\p{White_Space}\p{Cc}\ud800-\udfff]$/u.test(c));

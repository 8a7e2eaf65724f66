import type { ObjectValue, Value } from "./independent-json.ts";

const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** @throws Error when the condition is false */
export const need: (holds: boolean) => asserts holds = (holds) => {
  if (!holds) throw new Error("refused");
};

/** Bytes in base58. */
export const base58 = (bytes: Uint8Array): string => {
  let number = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  let text = "";
  for (; number > 0n; number /= 58n) text = ALPHABET.charAt(Number(number % 58n)) + text;
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return "1".repeat(zeros < 0 ? bytes.length : zeros) + text;
};

/** The bytes of a base58 text, which must have the given length. @throws Error */
export const fromBase58 = (text: Value | undefined, length: number): Uint8Array => {
  need(typeof text === "string" && text.length <= 90 && text !== "");
  const value = Array.from(text).reduce((sum, c) => {
    const digit = ALPHABET.indexOf(c);
    need(digit >= 0);
    return sum * 58n + BigInt(digit);
  }, 0n);
  const hex = value.toString(16);
  need(hex.length <= length * 2);
  const bytes = new Uint8Array(Buffer.from(hex.padStart(length * 2, "0"), "hex"));
  need(base58(bytes) === text);
  return bytes;
};

/** The bytes of a text in canonical base64. @throws Error */
export const fromBase64 = (text: Value | undefined): Uint8Array => {
  need(typeof text === "string");
  const bytes = Buffer.from(text, "base64");
  need(bytes.toString("base64") === text);
  return new Uint8Array(bytes);
};

/** An object with exactly these members, separated by spaces. @throws Error */
export const object = (value: Value | undefined, members: string): ObjectValue => {
  need(value instanceof Map);
  need([...value.keys()].sort().join(" ") === members.split(" ").sort().join(" "));
  return value;
};

/** Whether a value is a slot. */
export const isSlot = (value: Value | undefined): boolean =>
  typeof value === "bigint" && value >= 0n && value < 2n ** 53n;

/** Whether a value is one of some texts. */
export const isOneOf = (value: Value | undefined, known: ReadonlyArray<string>): boolean =>
  typeof value === "string" && known.includes(value);

/** The text of UTF-8 bytes; a byte order mark stays in it. @throws Error for other bytes */
export const strictText = (bytes: Uint8Array): string =>
  new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);

/** Offset and length of what captures, a close and a settlement write in an escrow account. */
const CHANGED = [
  [10, 1],
  [12, 4],
  [184, 8],
  [208, 8],
  [216, 32],
  [280, 8],
  [288, 64],
  [360, 8],
  [400, 1],
  [408, 8],
] as const;

/** The account's bytes right after its creation. */
export const asCreated = (bytes: Uint8Array): Buffer => {
  const created = Buffer.from(bytes);
  for (const [at, length] of CHANGED) created.fill(0, at, at + length);
  return created;
};

import type { Json } from "../../domain/encoding/canonical-json.ts";
import { isCanonicalNumber, jsonNumbers } from "../../domain/encoding/json-numbers.ts";
import { parseStrictJson } from "../../domain/encoding/strict-json.ts";
import { fail, WrongForm } from "./packet-form.ts";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

const textOf = (document: string | Uint8Array, what: string): string => {
  if (typeof document === "string") return document;
  try {
    return decoder.decode(document);
  } catch {
    return fail(`${what} is not UTF-8`);
  }
};

/** Whether a document has more bytes; a text has at least as many bytes of UTF-8 as code units. */
const isLongerThan = (document: string | Uint8Array, maxBytes: number): boolean =>
  document.length > maxBytes ||
  (typeof document === "string" && encoder.encode(document).length > maxBytes);

/**
 * The JSON value of a document, given as its text or as its UTF-8 bytes: both are judged alike. Strict, so that all
 * verifiers read the same: more than `maxBytes` bytes, a byte order mark, a member twice and a number written
 * otherwise than RFC 8785 does are refused. @throws WrongForm
 */
export const readStrictDocument = (
  document: string | Uint8Array,
  what: string,
  maxBytes: number,
): Json => {
  if (isLongerThan(document, maxBytes)) return fail(`${what} has more than ${maxBytes} bytes`);
  const text = textOf(document, what);
  const json = parseStrictJson(text);
  if ("fault" in json) return fail(`${what} ${json.fault}`);
  if (!jsonNumbers(text).every(isCanonicalNumber))
    fail(`${what} has a number that is not written canonically`);
  return json.value;
};

/** What a reading gives, or what is wrong with the form of what it reads. */
export const formOf = <A>(read: () => A): { readonly value: A } | { readonly fault: string } => {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof WrongForm) return { fault: error.message };
    throw error;
  }
};

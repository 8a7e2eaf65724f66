import { type Address, parseAddress } from "../../domain/address.ts";
import { decodeBase64 } from "../../domain/encoding/base64.ts";
import type { Json } from "../../domain/encoding/canonical-json.ts";
import {
  isCanonicalNumber,
  jsonNumbers,
  parseStrictJson,
} from "../../domain/encoding/strict-json.ts";

/** An object out of a JSON text. */
export type JsonObject = { readonly [key: string]: Json };

/** A packet or a part of it does not have the required form. The message quotes nothing from it. */
class WrongForm extends Error {}

/** @throws WrongForm */
export const fail = (what: string): never => {
  throw new WrongForm(what);
};

/**
 * An object. Where members are listed, it must have all of them, and may have only the optional ones besides. @throws
 * WrongForm
 */
export const objectIn = (
  value: Json | undefined,
  what: string,
  members?: ReadonlyArray<string>,
  optional: ReadonlyArray<string> = [],
): JsonObject => {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return fail(`${what} is not an object`);
  const found = value as JsonObject;
  if (members !== undefined) {
    const stranger = Object.keys(found).find((key) => ![...members, ...optional].includes(key));
    if (stranger !== undefined) fail(`${what} has an unknown member`);
    const missing = members.find((member) => !Object.hasOwn(found, member));
    if (missing !== undefined) fail(`${what} lacks ${missing}`);
  }
  return found;
};

/** An array. @throws WrongForm */
export const arrayIn = (value: Json | undefined, what: string): ReadonlyArray<Json> =>
  Array.isArray(value) ? (value as ReadonlyArray<Json>) : fail(`${what} is not an array`);

/** A string. @throws WrongForm */
export const textIn = (value: Json | undefined, what: string): string =>
  typeof value === "string" ? value : fail(`${what} is not a string`);

/** One of a list of strings. @throws WrongForm */
export const oneOfIn = <const T extends string>(
  value: Json | undefined,
  what: string,
  known: ReadonlyArray<T>,
): T => known.find((each) => each === value) ?? fail(`${what} is not one of ${known.join(", ")}`);

/** A base58 address of 32 bytes. @throws WrongForm */
export const addressIn = (value: Json | undefined, what: string): Address =>
  parseAddress(textIn(value, what)) ?? fail(`${what} is not 32 bytes in base58`);

/** Bytes out of canonical base64. @throws WrongForm */
export const bytesIn = (value: Json | undefined, what: string, length?: number): Uint8Array => {
  const bytes = decodeBase64(textIn(value, what)) ?? fail(`${what} is not base64`);
  return length === undefined || bytes.length === length
    ? bytes
    : fail(`${what} has not ${length} bytes`);
};

/** A whole number from 0 to `max`, at most 2^53 - 1, which JSON carries exactly. @throws WrongForm */
export const wholeIn = (value: Json | undefined, what: string, max: number): number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= max
    ? value
    : fail(`${what} is not a whole number from 0 to ${max}`);

/** A slot, which JSON carries exactly up to 2^53 - 1. @throws WrongForm */
export const slotIn = (value: Json | undefined, what: string): bigint =>
  BigInt(wholeIn(value, what, Number.MAX_SAFE_INTEGER));

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

import { type Address, parseAddress } from "../../domain/address.ts";
import { decodeBase64 } from "../../domain/encoding/base64.ts";
import type { Json } from "../../domain/encoding/canonical-json.ts";

/** An object out of a JSON text. */
export type JsonObject = { readonly [key: string]: Json };

/** A packet or a part of it does not have the required form. The message quotes nothing from it. */
export class WrongForm extends Error {}

/** @throws WrongForm */
export const fail = (what: string): never => {
  throw new WrongForm(what);
};

/** An object. Where members are listed, it must have all of them, and may have only the optional ones besides. @throws WrongForm */
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

import { echoed } from "./foreign-text.ts";

/** The JSON values that RFC 8785 carries without loss. Amounts and times are strings. */
export type Json =
  | string
  | number
  | boolean
  | null
  | ReadonlyArray<Json>
  | { readonly [key: string]: Json };

const textOf = (value: Json): string => {
  if (typeof value === "string") {
    if (!value.isWellFormed()) throw new Error("a lone surrogate has no JSON form");
    return JSON.stringify(value);
  }
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new Error(`${value} has no JSON form`);
    // ECMAScript's form of a number is the canonical one (RFC 8785, section 3.2.2.3).
    return JSON.stringify(value);
  }
  if (typeof value === "boolean" || value === null) return String(value);
  if (typeof value !== "object") throw new Error(`a ${typeof value} has no JSON form`);
  if (Array.isArray(value)) return `[${value.map(textOf).join(",")}]`;
  const members = value as { readonly [key: string]: Json | undefined };
  // Sorted by UTF-16 code units, which is what RFC 8785, section 3.2.3 asks for.
  const parts: Array<string> = [];
  for (const name of Object.keys(members).sort()) {
    const member = members[name];
    if (member !== undefined) parts.push(`${textOf(name)}:${textOf(member)}`);
  }
  return `{${parts.join(",")}}`;
};

/**
 * The RFC 8785 (JCS) bytes of a JSON value; a member that is undefined is left out. @throws Error for a value without a
 * JSON form, such as a lone surrogate.
 */
export const canonicalJsonBytes = (value: Json): Uint8Array =>
  new TextEncoder().encode(textOf(value));

/** The RFC 6901 pointer made of member names, outermost first. */
export const jsonPointer = (names: ReadonlyArray<string>): string =>
  names.map((name) => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

/**
 * Why a payload has no exact RFC 8785 bytes. `pointer` is the RFC 6901 pointer to the member; of a long name, which its
 * sender chose, it has the beginning.
 */
type CanonicalFault = { readonly pointer: string; readonly detail: string };

const SURROGATE = "holds a lone surrogate, which has no UTF-8";
const NUMBER = "is a number that JSON does not carry exactly";

/** A fault, and the names of the members that lead to it, innermost first. */
type Found = { readonly detail: string; readonly names: Array<string> };

const isList = (value: Json): value is ReadonlyArray<Json> => Array.isArray(value);

const within = (fault: Found, name: string): Found => {
  fault.names.push(name);
  return fault;
};

const isExactNumber = (value: number): boolean =>
  Number.isFinite(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER;

/** Names are collected only for a fault: a payload can have 16,000 members, and most have no fault. */
const faultIn = (value: Json): Found | undefined => {
  if (typeof value === "number")
    return isExactNumber(value) ? undefined : { detail: NUMBER, names: [] };
  if (typeof value === "string")
    return value.isWellFormed() ? undefined : { detail: SURROGATE, names: [] };
  if (typeof value !== "object" || value === null) return undefined;
  if (isList(value)) {
    for (let i = 0; i < value.length; i++) {
      const fault = faultIn(value[i] ?? null);
      if (fault !== undefined) return within(fault, String(i));
    }
    return undefined;
  }
  for (const name of Object.keys(value)) {
    if (!name.isWellFormed()) return { detail: SURROGATE, names: [] };
    const fault = faultIn(value[name] ?? null);
    if (fault !== undefined) return within(fault, name);
  }
  return undefined;
};

/**
 * The first member of a payload that has no exact RFC 8785 form, undefined when there is none. That is an integer
 * beyond 2^53 - 1, a number beyond the range of a double (RFC 7493, section 2.2), or a lone surrogate (RFC 8785,
 * 3.2.2.2).
 */
export const canonicalFault = (value: Json): CanonicalFault | undefined => {
  const fault = faultIn(value);
  return fault === undefined
    ? undefined
    : { pointer: jsonPointer(fault.names.toReversed().map(echoed)), detail: fault.detail };
};

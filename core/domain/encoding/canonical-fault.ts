import type { Json } from "./canonical-json.ts";
import { echoed } from "./foreign-text.ts";
import { jsonPointer } from "./json-pointer.ts";

/** Why a payload has no exact RFC 8785 bytes. `pointer` is the RFC 6901 pointer to the member; of a long name, which its sender chose, it has the beginning. */
export type CanonicalFault = { readonly pointer: string; readonly detail: string };

const SURROGATE = "holds a lone surrogate, which has no UTF-8";
const NUMBER = "is a number that JSON does not carry exactly";

/** A fault, and the names of the members that lead to it, innermost first. */
type Found = { readonly detail: string; readonly names: Array<string> };

const isList = (value: Json): value is ReadonlyArray<Json> => Array.isArray(value);

const within = (found: Found, name: string): Found => {
  found.names.push(name);
  return found;
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
      const found = faultIn(value[i] ?? null);
      if (found !== undefined) return within(found, String(i));
    }
    return undefined;
  }
  for (const name of Object.keys(value)) {
    if (!name.isWellFormed()) return { detail: SURROGATE, names: [] };
    const found = faultIn(value[name] ?? null);
    if (found !== undefined) return within(found, name);
  }
  return undefined;
};

/**
 * The first member of a payload that has no exact RFC 8785 form, undefined when there is none. That is an integer
 * beyond 2^53 - 1, a number beyond the range of a double (RFC 7493, section 2.2), or a lone surrogate (RFC 8785,
 * 3.2.2.2).
 */
export const canonicalFault = (value: Json): CanonicalFault | undefined => {
  const found = faultIn(value);
  return found === undefined
    ? undefined
    : { pointer: jsonPointer(found.names.toReversed().map(echoed)), detail: found.detail };
};

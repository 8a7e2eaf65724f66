import type { Json } from "./canonical-json.ts";
import { isExactNumber, jsonNumbers } from "./json-numbers.ts";

/** Deeper values are refused, so that no input can exhaust the stack. */
const MAX_DEPTH = 64;

class NotStrict extends Error {}

/**
 * Walks a text that `JSON.parse` has accepted and throws where an object has a member twice, which
 * `JSON.parse` passes over silently, or nesting is deeper than `MAX_DEPTH`.
 */
const assertStrict = (text: string): void => {
  const scopes: Array<Set<string> | null> = [];
  let expectsKey = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') {
      const start = at;
      for (at++; text[at] !== '"'; at++) if (text[at] === "\\") at++;
      const members = scopes.at(-1);
      if (!expectsKey || members === null || members === undefined) continue;
      const key = JSON.parse(text.slice(start, at + 1)) as string;
      if (members.has(key)) throw new NotStrict("has a member twice");
      members.add(key);
      expectsKey = false;
    } else if (character === "{" || character === "[") {
      if (scopes.length === MAX_DEPTH) throw new NotStrict("is nested too deeply");
      scopes.push(character === "{" ? new Set() : null);
      expectsKey = character === "{";
    } else if (character === "}" || character === "]") {
      scopes.pop();
      expectsKey = false;
    } else if (character === ",") {
      expectsKey = scopes.at(-1) instanceof Set;
    }
  }
};

/** Whether reading a number loses some of it; larger ones are judged by who knows where they stand. */
const isLossy = (token: string): boolean =>
  Math.abs(Number(token)) <= Number.MAX_SAFE_INTEGER && !isExactNumber(token);

const assertExact = (text: string): void => {
  if (jsonNumbers(text).some(isLossy))
    throw new NotStrict("has a number that JSON does not carry exactly");
};

/** Throws where RFC 8785 has no bytes for a value: a lone surrogate, or a number too large for a double. */
const assertCanonical = (value: Json): void => {
  if (typeof value === "string") {
    if (!value.isWellFormed()) throw new NotStrict("holds a lone surrogate");
  } else if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new NotStrict("holds a number that is too large");
  } else if (typeof value === "object" && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      assertCanonical(name);
      assertCanonical(member);
    }
  }
};

/** The value of a JSON text, or what is wrong with it. */
export type ParsedJson = { readonly value: Json } | { readonly fault: string };

const parse = (text: string, assert: (value: Json) => void): ParsedJson => {
  try {
    const value = JSON.parse(text) as Json;
    assertStrict(text);
    assertExact(text);
    assert(value);
    return { value };
  } catch (error) {
    return { fault: error instanceof NotStrict ? error.message : "is not JSON" };
  }
};

/**
 * The value of a JSON text that can be read in one way only: a member that stands twice in an object, nesting
 * beyond 64 and a number up to 2^53 of which a double drops some are refused (RFC 8259, sections 4 and 6;
 * RFC 7493, sections 2.2 and 2.3).
 */
export const parseUnambiguousJson = (text: string): ParsedJson => parse(text, () => undefined);

/**
 * Stricter than `parseUnambiguousJson`: a lone surrogate and a number too large for a double are refused
 * as well (RFC 7493, section 2), so that every value it gives has RFC 8785 bytes.
 */
export const parseStrictJson = (text: string): ParsedJson => parse(text, assertCanonical);

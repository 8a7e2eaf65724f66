import type { Json } from "./canonical-json.ts";

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

/**
 * The value of a JSON text, or what is wrong with it. Stricter than `JSON.parse`: a member that stands
 * twice in an object and nesting beyond 64 are refused (RFC 8259, section 4; RFC 8785, section 3.1).
 */
export const parseStrictJson = (
  text: string,
): { readonly value: Json } | { readonly fault: string } => {
  try {
    const value = JSON.parse(text) as Json;
    assertStrict(text);
    return { value };
  } catch (error) {
    return { fault: error instanceof NotStrict ? error.message : "is not JSON" };
  }
};

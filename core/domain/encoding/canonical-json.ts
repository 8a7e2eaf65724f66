import canonicalize from "canonicalize";

/** What RFC 8785 can carry without loss here: amounts and times travel as strings. */
export type Json =
  | string
  | number
  | boolean
  | null
  | ReadonlyArray<Json>
  | { readonly [key: string]: Json };

/** The RFC 8785 (JCS) bytes of a JSON value. @throws Error for what has no JSON, such as a lone surrogate. */
export const canonicalJsonBytes = (value: Json): Uint8Array => {
  const text = canonicalize(value);
  if (text === undefined) throw new Error("value has no JSON form");
  return new TextEncoder().encode(text);
};

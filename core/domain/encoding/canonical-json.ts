import canonicalize from "canonicalize";

/** The JSON values that RFC 8785 carries without loss. Amounts and times are strings. */
export type Json =
  | string
  | number
  | boolean
  | null
  | ReadonlyArray<Json>
  | { readonly [key: string]: Json };

/**
 * The RFC 8785 (JCS) bytes of a JSON value. @throws Error for a value without a JSON form, such as a lone surrogate.
 */
export const canonicalJsonBytes = (value: Json): Uint8Array => {
  const text = canonicalize(value);
  if (text === undefined) throw new Error("value has no JSON form");
  return new TextEncoder().encode(text);
};

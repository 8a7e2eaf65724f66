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
 * The RFC 8785 (JCS) bytes of a JSON value; a member that is undefined is left out. @throws Error for a value without a JSON form, such as a
 * lone surrogate.
 */
export const canonicalJsonBytes = (value: Json): Uint8Array =>
  new TextEncoder().encode(textOf(value));

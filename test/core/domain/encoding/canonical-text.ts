import type { Json } from "../../../../core/domain/encoding/canonical-json.ts";

const ESCAPES: Readonly<Record<string, string>> = {
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\f": "\\f",
  "\r": "\\r",
  '"': '\\"',
  "\\": "\\\\",
};

const quoted = (value: string): string => {
  let text = '"';
  for (const unit of value) {
    const escape = ESCAPES[unit];
    if (escape !== undefined) text += escape;
    else if (unit < " ") text += `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
    else text += unit;
  }
  return `${text}"`;
};

/** The order of RFC 8785, section 3.2.3: by UTF-16 code units as unsigned numbers. */
const byCodeUnits = (a: string, b: string): number => {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const difference = a.charCodeAt(i) - b.charCodeAt(i);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
};

/** RFC 8785, written independently as an oracle. Strings and sorting are its own; numbers are ECMAScript's. */
export const canonicalText = (value: Json): string => {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number") return Object.is(value, -0) ? "0" : String(value);
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return `[${value.map((item: Json) => canonicalText(item)).join(",")}]`;
  const members = Object.entries(value as { readonly [key: string]: Json })
    .sort(([a], [b]) => byCodeUnits(a, b))
    .map(([key, member]) => `${quoted(key)}:${canonicalText(member)}`);
  return `{${members.join(",")}}`;
};

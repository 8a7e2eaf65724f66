import { createHash } from "node:crypto";

/** A strong validator of exactly these bytes (RFC 9110, section 8.8.3). */
export const entityTag = (body: string | Uint8Array): string =>
  `"${createHash("sha256").update(body).digest("base64url")}"`;

/**
 * Whether an If-None-Match header names what would be answered: `*` names every representation, also one without a tag (null), and a
 * listed tag this one, compared weakly (RFC 9110, section 13.1.2).
 */
export const isNotModified = (ifNoneMatch: string | null, tag: string | null): boolean =>
  ifNoneMatch !== null &&
  (ifNoneMatch.trim() === "*" ||
    ifNoneMatch.split(",").some((listed) => listed.trim().replace(/^W\//, "") === tag));

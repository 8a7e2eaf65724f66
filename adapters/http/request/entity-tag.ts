import { createHash } from "node:crypto";

/** A strong validator of exactly these bytes (RFC 9110, section 8.8.3). */
export const entityTag = (body: string | Uint8Array): string =>
  `"${createHash("sha256").update(body).digest("base64url")}"`;

/** Whether an If-None-Match header names this tag; the comparison is weak (RFC 9110, section 13.1.2). */
export const isNotModified = (ifNoneMatch: string | null, tag: string): boolean =>
  ifNoneMatch !== null &&
  (ifNoneMatch.trim() === "*" ||
    ifNoneMatch.split(",").some((listed) => listed.trim().replace(/^W\//, "") === tag));

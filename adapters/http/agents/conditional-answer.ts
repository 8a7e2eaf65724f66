import { entityTag, isNotModified } from "../request/entity-tag.ts";

/** The headers of an answer that can be revalidated, as the OpenAPI document names them. */
export const ETAG_HEADER = { etag: "Strong validator of the whole body." } as const;

/** The answer to `If-None-Match` with the validator of what would be answered. */
export const NOT_MODIFIED = {
  description: "The body is the one that `If-None-Match` names.",
  content: {},
  headers: { etag: "The body's validator." },
} as const;

/** A text with its entity tag, or 304 where `If-None-Match` names that tag (RFC 9110, 13.1.2). `more` are further headers of both. */
export const conditionalAnswer = (
  text: string,
  asked: Headers,
  more: Readonly<Record<string, string>> = {},
) => {
  const headers = { etag: entityTag(text), ...more };
  return isNotModified(asked.get("if-none-match"), headers.etag)
    ? { status: 304 as const, text: null, headers }
    : { status: 200 as const, text, headers };
};

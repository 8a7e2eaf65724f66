import { echoed } from "../../core/domain/encoding/foreign-text.ts";

/** Names and URIs have no other characters. */
const PLAIN = /^[\w:/.…-]+$/;

/** The beginning of a caller's text for an answer, which goes into a model's context: a plain name as it is, anything else in quotes. */
export const shown = (text: string): string => {
  const part = echoed(text);
  return PLAIN.test(part) ? part : JSON.stringify(part);
};

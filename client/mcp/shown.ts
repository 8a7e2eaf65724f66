/** The most characters of a caller's text that an answer repeats. It exceeds the longest name and URI that there are. */
const MAX_SHOWN = 96;

/** Names and URIs have no other characters, and no sentence can be written with these. */
const PLAIN = /^[\w:/.-]+$/;

/**
 * A text of the caller's for an answer, which goes into a model's context: a plain name as it is, and anything else in quotes with printable ASCII only, so that it
 * cannot pass for the server's own words. At most 96 characters of it.
 */
export const shown = (text: string): string => {
  const part = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text;
  return PLAIN.test(part)
    ? part
    : `"${part.replaceAll(/[^\x20-\x7e]/g, "?").replaceAll('"', "'")}"`;
};

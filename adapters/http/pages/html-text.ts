import { withUnseenShown } from "../../../core/domain/encoding/unseen-characters.ts";

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text made safe inside HTML, in elements and in quoted attributes. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");

/** A text of the documentation as HTML, with text between backquotes as code. */
export const markedHtml = (text: string): string =>
  escapeHtml(text).replace(/`([^`]+)`/g, "<code>$1</code>");

/** As `escapeHtml`, for text from outside: characters that would change the text around them are shown as code points. */
export const escapeForeign = (text: string): string => withUnseenShown(escapeHtml(text));

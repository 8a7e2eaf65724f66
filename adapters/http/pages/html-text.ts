import { foreignText } from "../../../core/domain/encoding/foreign-text.ts";

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

/** As `escapeHtml`, for text from outside, bounded and with unseen characters as code points. */
export const escapeForeign = (text: string): string => escapeHtml(foreignText(text));

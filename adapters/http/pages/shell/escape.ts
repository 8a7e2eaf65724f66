import { foreignText } from "../../../../core/domain/encoding/foreign-text.ts";

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

/** Escapes text from outside. Long text is cut, and invisible characters are shown as code points. */
export const escapeForeign = (text: string): string => escapeHtml(foreignText(text));

import { foreignText } from "../../../../core/domain/encoding/foreign-text.ts";
import { escapeForeign, escapeHtml } from "./escape.ts";

/** HTML that is safe to send: every text in it went through `html`. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** What a template takes: HTML as it is, texts that are escaped and bounded, and nothing for what is absent. */
export type Inner = Html | string | number | null | undefined | false | ReadonlyArray<Inner>;

const shown = (value: Inner): string => {
  if (value === null || value === undefined || value === false) return "";
  if (value instanceof Html) return value.text;
  if (typeof value === "object") return value.map(shown).join("");
  return typeof value === "number" ? String(value) : escapeForeign(value);
};

/**
 * A template of HTML. Each text that is put in is taken for somebody else's: it is cut at 200 characters, its invisible
 * characters stand as code points, and it is escaped for elements and quoted attributes.
 */
export const html = (parts: TemplateStringsArray, ...values: ReadonlyArray<Inner>): Html =>
  new Html(parts.map((part, at) => part + shown(values[at])).join(""));

/** The most characters of a sentence that the service answered. */
const MOST_OF_A_SENTENCE = 2000;

/** A sentence of several hundred characters, perhaps with somebody else's words in it, as HTML. */
export const sentence = (text: string): Html =>
  new Html(escapeHtml(foreignText(text, MOST_OF_A_SENTENCE)));

/** A text of this program's own, with text between backquotes as code. */
export const markedText = (text: string): Html =>
  new Html(escapeHtml(text).replace(/`([^`]+)`/g, "<code>$1</code>"));

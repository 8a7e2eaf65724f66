import type { Given } from "./recognise.ts";

/** The id of the element that holds a receipt's documents. */
export const DOCUMENTS_ID = "documents";

/** What stands before the documents, at the end of its line. */
export const BEFORE_DOCUMENTS = `id="${DOCUMENTS_ID}">\n`;

/**
 * A receipt: its template with the documents in it, on one line of their own that begins with `[{`, so that the rest can
 * be hashed without them. No document can end the element that holds it, since `<` stands escaped.
 */
export const filledReceipt = (template: string, documents: ReadonlyArray<Given>): string => {
  const at = template.indexOf(BEFORE_DOCUMENTS) + BEFORE_DOCUMENTS.length;
  const bare = documents.map(({ name, text, service }) => ({ name, text, service }));
  const line = JSON.stringify(bare).replaceAll("<", String.raw`\u003c`);
  return `${template.slice(0, at)}${line}\n${template.slice(at)}`;
};

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Characters that change how text around them is shown: bidirectional controls (UAX #9) and other C0 and C1 ones. */
// oxlint-disable-next-line no-control-regex
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Text made safe inside HTML, in elements and in quoted attributes. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");

/** Text from outside whose characters that would change the text around them are shown as code points. */
export const withUnseenShown = (text: string): string =>
  text.replace(
    UNSEEN,
    (character) => `[U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}]`,
  );

/** As `escapeHtml`, for text from outside: characters that would change the text around them are shown as code points. */
export const escapeForeign = (text: string): string => withUnseenShown(escapeHtml(text));

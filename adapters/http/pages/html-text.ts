const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * Characters that are invisible, or that change how the text around them is shown: bidirectional controls (UAX #9), the C0 and C1
 * controls, line and paragraph separators, spaces of no width, fillers and tags. Joiners and variation selectors are not among them,
 * because Persian, Hindi and emoji are written with them.
 */
const UNSEEN =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;

/** Text made safe inside HTML, in elements and in quoted attributes. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");

/** Text from outside, with characters that are invisible or change the text around them shown as code points. */
export const withUnseenShown = (text: string): string =>
  text.replace(
    UNSEEN,
    (character) =>
      `[U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}]`,
  );

/** As `escapeHtml`, for text from outside: characters that would change the text around them are shown as code points. */
export const escapeForeign = (text: string): string => withUnseenShown(escapeHtml(text));

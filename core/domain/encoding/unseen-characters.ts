/**
 * Characters that are invisible, or that change how the text around them is shown: bidirectional controls (UAX #9), the C0 and C1
 * controls, line and paragraph separators, spaces of no width, fillers and tags. Joiners and variation selectors are not among them,
 * because Persian, Hindi and emoji are written with them.
 */
const UNSEEN =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;

/** Text from outside, with characters that are invisible or change the text around them shown as code points such as `[U+001B]`. */
export const withUnseenShown = (text: string): string =>
  text.replace(
    UNSEEN,
    (character) =>
      `[U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}]`,
  );

/** As `withUnseenShown`, for text of several lines: line feeds stay. */
export const linesWithUnseenShown = (text: string): string =>
  text.split("\n").map(withUnseenShown).join("\n");

const escaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");

/**
 * A value as JSON that a terminal shows as it is: the JSON of `JSON.stringify`, with characters escaped that are invisible or change
 * the text around them. `indent` is the number of spaces of an indented form.
 */
export const terminalJson = (value: unknown, indent = 0): string =>
  JSON.stringify(value, null, indent).replace(UNSEEN, (character) =>
    character === "\n" ? character : escaped(character),
  );

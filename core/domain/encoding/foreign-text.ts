declare const brand: unique symbol;

/**
 * Text that somebody else wrote, as it may be shown: on a terminal, on a page, in a model's context or in a message. It
 * is bounded, and what is invisible or changes the text around it stands as code points. Only this file makes one.
 */
export type ForeignText = string & { readonly [brand]: "ForeignText" };

/**
 * Characters that are invisible, or that change how the text around them is shown: bidirectional controls (UAX #9), the
 * C0 and C1 controls, line and paragraph separators, spaces of no width, fillers and tags. Joiners and variation
 * selectors are not among them, because Persian, Hindi and emoji are written with them. A half of a surrogate pair is
 * no text.
 */
const UNSEEN =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;

/** The most characters of a text, unless its place takes another number. */
const MOST_CHARACTERS = 200;
/**
 * The most characters of a command's whole message, and of one text in its JSON. Its own texts are shorter: a
 * transaction has 1,644 in base64.
 */
const MOST_OF_OUTPUT = 16_384;
/**
 * The longest text of a caller's that is repeated whole: a UUID. The 32 bytes of a private key's seed have 43
 * characters in base58 and in base64.
 */
const LONGEST_ECHO = 36;
/** What is repeated of a longer one. */
const MOST_ECHOED = 8;

const codePoint = (character: string): string =>
  `[U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}]`;

/** At most `most` UTF-16 units of a text, and an ellipsis where more were cut off. No character is halved. */
const cut = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most).replace(/[\ud800-\udbff]$/, "")}…` : text;

/**
 * A text that somebody else wrote, as one line of at most `most` of its characters: more are an ellipsis, unseen ones
 * code points such as `[U+001B]`.
 */
export const foreignText = (text: string, most: number = MOST_CHARACTERS): ForeignText =>
  cut(text, most).replace(UNSEEN, codePoint) as ForeignText;

/** As `foreignText`, for a command's message of several lines, its own words included: line feeds stay. */
export const foreignLines = (text: string): ForeignText =>
  cut(text, MOST_OF_OUTPUT).replace(UNSEEN, (character) =>
    character === "\n" ? character : codePoint(character),
  ) as ForeignText;

/** Whether a text of a caller's may be repeated whole: it has at most 36 characters, fewer than any private key. */
export const isShort = (text: string): boolean => text.length <= LONGEST_ECHO;

/**
 * What an answer or a log line repeats of a text that its caller sent: a short one, or the first 8 characters, since it
 * could be a private key.
 */
export const echoed = (text: string): ForeignText =>
  foreignText(text, isShort(text) ? LONGEST_ECHO : MOST_ECHOED);

const escaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");

/**
 * A value as JSON that a terminal shows as it is: that of `JSON.stringify`, with unseen characters escaped and long
 * texts cut. `indent` is the number of spaces of an indented form.
 */
export const foreignJson = (value: unknown, indent = 0): ForeignText =>
  JSON.stringify(
    value,
    (_, member: unknown) => (typeof member === "string" ? cut(member, MOST_OF_OUTPUT) : member),
    indent,
  ).replace(UNSEEN, (character) =>
    character === "\n" ? character : escaped(character),
  ) as ForeignText;

/** The most bytes of UTF-8 that a merchant's name has. */
const MAX_NAME_BYTES = 32;

/**
 * C0 and C1 control characters and U+007F; and characters that change the direction of text, with which one name can look like another
 * (Unicode 15, Bidi_Control).
 */
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

const utf8 = new TextEncoder();

/** Whether the attestor program takes a text as a merchant's name: 1 to 32 bytes of UTF-8 without control characters. */
export const isMerchantName = (text: string): boolean => {
  const { length } = utf8.encode(text);
  return length >= 1 && length <= MAX_NAME_BYTES && text.isWellFormed() && !CONTROLS.test(text);
};

/**
 * Any character but white space, those that Unicode calls ignorable by default (U+200B, U+FEFF, the Hangul fillers, variation
 * selectors, tags), and the empty braille cell U+2800, which leaves a blank as well.
 */
const SHOWN = /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Whether a reader sees anything of a name. The program does not ask; registrations are prepared only of names that show. */
export const showsSomething = (text: string): boolean => SHOWN.test(text);

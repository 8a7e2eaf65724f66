/** The most bytes of UTF-8 that a merchant's name has. */
export const MAX_MERCHANT_NAME_BYTES = 32;

/**
 * A name of any length without C0 and C1 control characters and U+007F, and without characters that change the direction of text,
 * with which one name can look like another (Unicode 15, Bidi_Control). A regular expression's source, of ECMA-262 with the flag `u`.
 */
export const MERCHANT_NAME_PATTERN =
  "^[^\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]+$";

const NAME = new RegExp(MERCHANT_NAME_PATTERN, "u");

const utf8 = new TextEncoder();

/** Whether the attestor program takes a text as a merchant's name: 1 to 32 bytes of UTF-8 without control characters. */
export const isMerchantName = (text: string): boolean =>
  NAME.test(text) && text.isWellFormed() && utf8.encode(text).length <= MAX_MERCHANT_NAME_BYTES;

/**
 * Any character but white space, those that Unicode calls ignorable by default (U+200B, U+FEFF, the Hangul fillers, variation
 * selectors, tags), and the empty braille cell U+2800, which leaves a blank as well.
 */
const SHOWN = /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Whether a reader sees anything of a name. The program does not ask; registrations are prepared only of names that show. */
export const showsSomething = (text: string): boolean => SHOWN.test(text);

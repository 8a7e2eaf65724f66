import { acceptedCoding, type Coding, entityTag, isNotModified } from "../request/accept.ts";
import { once } from "./once.ts";

/** Shorter texts are sent as they are: coding them saves no packet. */
const WORTH_CODING = 1024;

/** How hard brotli tries for a text that is sent once, of 11: pages take less than a millisecond. */
const QUICK = 4;
/** For a text that is kept: the reference, the largest, takes 40 ms of a core at 9, and is a sixth smaller than at 4. */
const SMALL = 9;

const zlib = () => process.getBuiltinModule("node:zlib");

/** The bytes of a text under a coding. The runtime's module takes 17 ms to load, so it is loaded at the first use. */
const coded = (
  text: string,
  coding: Exclude<Coding, "identity">,
  quality: number,
): Uint8Array<ArrayBuffer> => {
  if (coding === "gzip") return new Uint8Array(zlib().gzipSync(text));
  const { brotliCompressSync, constants } = zlib();
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: quality,
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
  };
  return new Uint8Array(brotliCompressSync(text, { params }));
};

/** A text with its validator, and its bytes under each coding, made at their first use. */
export type CodedText = {
  readonly text: string;
  readonly tag: () => string;
  readonly bytes: Readonly<Record<Exclude<Coding, "identity">, () => Uint8Array<ArrayBuffer>>>;
};

const codedWith = (text: string, quality: number): CodedText => ({
  text,
  tag: once(() => entityTag(text)),
  bytes: {
    br: once(() => coded(text, "br", quality)),
    gzip: once(() => coded(text, "gzip", quality)),
  },
});

/** A text of one answer, in the coding that it is asked for in. */
export const codedText = (text: string): CodedText => codedWith(text, QUICK);

/** A text of many answers, which is kept in each coding that it was asked for in. */
export const keptText = (text: string): CodedText => codedWith(text, SMALL);

/** What an answer takes from a text: its body, null where the caller has it already, and its headers. */
export type ChosenForm = {
  readonly body: string | Uint8Array<ArrayBuffer> | null;
  readonly headers: Readonly<Record<string, string>>;
};

/**
 * A text in the coding that the caller prefers, with its entity tag; no body where `If-None-Match` names that tag (RFC
 * 9110, 13.1.2). Each coding has a tag of its own, since a strong one names bytes (section 8.8.3.3). `vary` names what
 * else the text depends on.
 */
export const chooseForm = (
  { text, tag, bytes }: CodedText,
  asked: Headers,
  vary = "",
): ChosenForm => {
  const preferred = acceptedCoding(asked.get("accept-encoding"));
  const coding = text.length < WORTH_CODING ? "identity" : preferred;
  const etag = coding === "identity" ? tag() : tag().replace(/"$/, `-${coding}"`);
  const headers = { etag, vary: vary === "" ? "accept-encoding" : `${vary}, accept-encoding` };
  if (isNotModified(asked.get("if-none-match"), etag)) return { body: null, headers };
  return coding === "identity"
    ? { body: text, headers }
    : { body: bytes[coding](), headers: { ...headers, "content-encoding": coding } };
};

/** The answer with a form of a text, 304 where the caller has it. `more` are further headers of both. */
export const textAnswer = (
  { body, headers: own }: ChosenForm,
  more: Readonly<Record<string, string>> = {},
) => {
  const headers = { ...more, ...own };
  if (body === null) return { status: 304 as const, text: null, headers };
  return typeof body === "string"
    ? { status: 200 as const, text: body, headers }
    : { status: 200 as const, bytes: body, headers };
};

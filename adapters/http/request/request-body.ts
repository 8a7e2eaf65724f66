import { Effect } from "effect";
import {
  hasMoreValuesThan,
  type ParsedJson,
  parseUnambiguousJson,
} from "../../../core/domain/encoding/strict-json.ts";
import { BodyBrokenOff, PayloadTooLarge, UnsupportedMediaType } from "../problems/http-failures.ts";

/** The most bytes of a body that carries a delivery payload: every value of it is hashed and compared. */
export const MAX_PAYLOAD_BODY_BYTES = 32_768;

/** The most bytes of any other body. */
export const MAX_BODY_BYTES = 262_144;

/**
 * A body with more bytes than this may have only `MAX_VALUES_OF_LARGE_BODY` values, because values are what costs time.
 */
export const LARGE_BODY_BYTES = 32_768;

/** The most commas and opening brackets outside strings in a larger body. No operation needs a tenth of them. */
export const MAX_VALUES_OF_LARGE_BODY = 1000;

/** The bytes of a body that cost one point of a client's budget. */
export const BYTES_A_POINT = 8192;

/**
 * The cost of a request in points: one for the first 8 KiB of its body, plus one for each further 8 KiB or part of
 * them. It is never above the whole budget of `limit` points, so that waiting always helps.
 */
export const requestCost = (bodyBytes: number, limit: number): number =>
  Math.max(1, Math.min(Math.ceil(bodyBytes / BYTES_A_POINT), limit));

/** `application/json` in any case, alone or with a charset of UTF-8 (RFC 9110, section 8.3). */
const JSON_MEDIA_TYPE = /^application\/json(?:;charset\s*=\s*(?:"utf-8"|utf-8))?;?$/i;

/**
 * White space is removed first. A regular expression that allows it between parts takes half a second for 16 KB of it.
 */
const isJsonMediaType = (contentType: string): boolean => {
  if (contentType === "application/json") return true;
  const parts = contentType.split(";").map((part) => part.trim());
  return JSON_MEDIA_TYPE.test(parts.join(";"));
};

/** `identity`, or none: nothing here decodes a content coding (RFC 9110, section 8.4). */
const isUncoded = (contentEncoding: string): boolean =>
  ["", "identity"].includes(contentEncoding.trim().toLowerCase());

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text of UTF-8 bytes, undefined for others. */
export const decodeUtf8 = (bytes: Uint8Array): string | undefined => {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return undefined;
  }
};

/** Whether a request's body comes in chunks (RFC 9112, section 7.1). */
export const isChunked = ({ headers }: Request): boolean => headers.has("transfer-encoding");

/**
 * Whether a request with a body in chunks is still accepted after the next turn of the event loop. Bun's parser hands
 * over the body at its last chunk. When trailers follow, it then answers with a 400 of its own and aborts the request.
 */
export const isStillSound = async ({ signal }: Request): Promise<boolean> => {
  await new Promise((resolve) => setImmediate(resolve));
  return !signal.aborted;
};

/**
 * The bytes of a body of no declared length, or null as soon as there are more than `maxBytes`. @throws Error when the
 * request breaks off or is refused
 */
const readAtMost = async (
  request: Request,
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array | null> => {
  const reader = stream.getReader();
  const chunks: Array<Uint8Array> = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) {
      if (isChunked(request) && !(await isStillSound(request)))
        throw new Error("the parser refused the request");
      return Buffer.concat(chunks, length);
    }
    length += value.length;
    if (length > maxBytes) {
      await reader.cancel();
      return null;
    }
    chunks.push(value);
  }
};

const readBytes = (request: Request, maxBytes: number): Promise<Uint8Array | null> => {
  // A body is never longer than its Content-Length, so it is safe to read it whole.
  if (request.headers.has("content-length")) return request.bytes();
  return request.body === null
    ? Promise.resolve(new Uint8Array())
    : readAtMost(request, request.body, maxBytes);
};

/** The Content-Length of a request, 0 when it has none. */
export const declaredBytes = ({ headers }: Request): number =>
  Number(headers.get("content-length")) || 0;

/** Fails with `PayloadTooLarge` when a body's declared length is above `maxBytes`. */
export const assertBodyFits = (request: Request, maxBytes: number) =>
  declaredBytes(request) > maxBytes ? Effect.fail(new PayloadTooLarge({ maxBytes })) : Effect.void;

/**
 * The bytes of a JSON body, not yet parsed. Fails with `UnsupportedMediaType`, `PayloadTooLarge` before more
 * than `maxBytes` are buffered, or `BodyBrokenOff`.
 */
export const readBody = (request: Request, maxBytes: number): ReturnType<typeof bodyBytes> => {
  const { headers } = request;
  if (!isJsonMediaType(headers.get("content-type") ?? ""))
    return Effect.fail(new UnsupportedMediaType({ header: "content-type" }));
  if (!isUncoded(headers.get("content-encoding") ?? ""))
    return Effect.fail(new UnsupportedMediaType({ header: "content-encoding" }));
  return bodyBytes(request, maxBytes);
};

/** The bytes of a body of any type. Fails with `PayloadTooLarge` or `BodyBrokenOff`. */
export const bodyBytes = (
  request: Request,
  maxBytes: number,
): Effect.Effect<Uint8Array, BodyBrokenOff | PayloadTooLarge | UnsupportedMediaType> => {
  if (declaredBytes(request) > maxBytes) return Effect.fail(new PayloadTooLarge({ maxBytes }));
  const reading = Effect.tryPromise({
    try: () => readBytes(request, maxBytes),
    catch: () => new BodyBrokenOff(),
  });
  return Effect.flatMap(reading, (bytes) =>
    bytes === null || bytes.length > maxBytes
      ? Effect.fail(new PayloadTooLarge({ maxBytes }))
      : Effect.succeed(bytes),
  );
};

/** The JSON value of a body's bytes, or what is wrong with them, without quoting them. */
export const parseJsonBody = (bytes: Uint8Array): ParsedJson => {
  const text = decodeUtf8(bytes);
  if (text === undefined) return { fault: "is not UTF-8" };
  if (bytes.length > LARGE_BODY_BYTES && hasMoreValuesThan(text, MAX_VALUES_OF_LARGE_BODY))
    return { fault: "holds too many values for its size" };
  return parseUnambiguousJson(text);
};

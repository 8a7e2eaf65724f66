import { Effect } from "effect";
import { parseUnambiguousJson } from "../../core/domain/strict-json.ts";
import { MalformedJson, PayloadTooLarge, UnsupportedMediaType } from "./problems/http-failures.ts";

/** `application/json` in any case, alone or with a charset of UTF-8 (RFC 9110, section 8.3). */
const JSON_MEDIA_TYPE =
  /^\s*application\/json\s*(?:;\s*charset\s*=\s*(?:"utf-8"|utf-8)\s*)?;?\s*$/i;

/** `identity`, or none: nothing here decodes a content coding (RFC 9110, section 8.4). */
const NO_CODING = /^\s*(?:identity)?\s*$/i;

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const decodeUtf8 = (bytes: Uint8Array): string | undefined => {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return undefined;
  }
};

/** The bytes of a body of no declared length, or null as soon as there are more than `maxBytes`. */
const readAtMost = async (
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array | null> => {
  const reader = stream.getReader();
  const chunks: Array<Uint8Array> = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(chunks, length);
    length += value.length;
    if (length > maxBytes) {
      await reader.cancel();
      return null;
    }
    chunks.push(value);
  }
};

const readBytes = (request: Request, maxBytes: number): Promise<Uint8Array | null> => {
  // HTTP framing holds a body to its declared length, so that it can be read in one piece.
  if (request.headers.has("content-length")) return request.bytes();
  return request.body === null
    ? Promise.resolve(new Uint8Array())
    : readAtMost(request.body, maxBytes);
};

/** Fails with `PayloadTooLarge` where a body declares more than `maxBytes`. */
export const assertBodyFits = ({ headers }: Request, maxBytes: number) =>
  Number(headers.get("content-length") ?? "0") > maxBytes
    ? Effect.fail(new PayloadTooLarge({ maxBytes }))
    : Effect.void;

/**
 * The JSON value of a request's body. Fails with `UnsupportedMediaType`, `PayloadTooLarge` before more
 * than `maxBytes` are buffered, or `MalformedJson`, also when the client breaks off.
 */
export const readJsonBody = Effect.fnUntraced(function* (request: Request, maxBytes: number) {
  const { headers } = request;
  if (!JSON_MEDIA_TYPE.test(headers.get("content-type") ?? ""))
    return yield* new UnsupportedMediaType({ header: "content-type" });
  if (!NO_CODING.test(headers.get("content-encoding") ?? ""))
    return yield* new UnsupportedMediaType({ header: "content-encoding" });
  yield* assertBodyFits(request, maxBytes);
  const bytes = yield* Effect.tryPromise({
    try: () => readBytes(request, maxBytes),
    catch: () => new MalformedJson({ detail: "ended too early" }),
  });
  if (bytes === null || bytes.length > maxBytes) return yield* new PayloadTooLarge({ maxBytes });
  const text = decodeUtf8(bytes);
  if (text === undefined) return yield* new MalformedJson({ detail: "is not UTF-8" });
  const parsed = parseUnambiguousJson(text);
  return "value" in parsed ? parsed.value : yield* new MalformedJson({ detail: parsed.fault });
});

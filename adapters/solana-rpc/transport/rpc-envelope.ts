import { Schema } from "effect";

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The bytes of a body that comes in pieces, "oversize" once it has more than `maxBytes`. */
const gathered = async (
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
): Promise<Uint8Array | "oversize"> => {
  const chunks: Array<Uint8Array> = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    // Returning from the loop cancels the stream.
    if (bytes > maxBytes) return "oversize";
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

/**
 * A response's body as text; "oversize" when it is longer than `maxBytes` after decompression, or "not_utf8". Reading
 * stops and the connection closes at the first chunk beyond the limit.
 */
export const responseText = async (
  response: Response,
  maxBytes: number,
): Promise<{ readonly text: string } | "oversize" | "not_utf8"> => {
  const { headers } = response;
  const length = headers.get("content-length");
  if (Number(length ?? 0) > maxBytes) {
    await response.body?.cancel();
    return "oversize";
  }
  // HTTP framing holds such a body to its length. Reading it in pieces costs a twentieth of a request more.
  const isFramed =
    length !== null && !headers.has("content-encoding") && !headers.has("transfer-encoding");
  const bytes = isFramed ? await response.bytes() : await gathered(response.body, maxBytes);
  if (bytes === "oversize") return "oversize";
  const text = utf8(bytes);
  return text === undefined ? "not_utf8" : { text };
};

/** The text of UTF-8 bytes, undefined for any other bytes. */
export const utf8 = (bytes: Uint8Array): string | undefined => {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return undefined;
  }
};

const INITIAL_CAPACITY = 64 * 1024;

/**
 * The arrived but unread part of a stream, in one reused buffer. Joining chunks for each arrival costs more than
 * reading them.
 */
export class HeldBytes {
  #memory = Buffer.allocUnsafe(INITIAL_CAPACITY);
  #from = 0;
  #to = 0;

  get length(): number {
    return this.#to - this.#from;
  }

  /** All held bytes, valid until the next `add`. */
  get bytes(): Buffer {
    return this.#memory.subarray(this.#from, this.#to);
  }

  add(chunk: Uint8Array): void {
    if (this.#to + chunk.length > this.#memory.length) this.#makeRoomFor(chunk.length);
    this.#memory.set(chunk, this.#to);
    this.#to += chunk.length;
  }

  /** Drops the first `count` bytes. */
  drop(count: number): void {
    this.#from += count;
  }

  #makeRoomFor(count: number): void {
    const { bytes } = this;
    let capacity = this.#memory.length;
    while (capacity < bytes.length + count) capacity *= 2;
    if (capacity > this.#memory.length) this.#memory = Buffer.allocUnsafe(capacity);
    this.#memory.set(bytes);
    this.#from = 0;
    this.#to = bytes.length;
  }
}

/** A parsed JSON-RPC answer, or what is wrong with it. */
export type Envelope =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly data: unknown } }
  | "not_json"
  | "wrong_id"
  | "malformed";

const RpcError = Schema.Struct({
  code: Schema.Int,
  message: Schema.String,
  data: Schema.optionalKey(Schema.Unknown),
});
const isRpcError = Schema.is(RpcError);

// Written out: by schemas, these two checks take a fortieth of a read.
const hasMembers = <Name extends string>(
  value: unknown,
  ...names: ReadonlyArray<Name>
): value is Readonly<Record<Name, unknown>> =>
  typeof value === "object" && value !== null && names.every((name) => Object.hasOwn(value, name));

const isAnswer = (value: unknown): value is { readonly id: unknown } =>
  hasMembers(value, "jsonrpc", "id") && value.jsonrpc === "2.0";

/** Whether a result is a value with its context (Agave `rpc-client-types`, `Response`). */
export const isValueAtSlot = (
  result: unknown,
): result is { readonly context: { readonly slot: number }; readonly value: unknown } =>
  hasMembers(result, "context", "value") &&
  hasMembers(result.context, "slot") &&
  Number.isSafeInteger(result.context.slot) &&
  Number(result.context.slot) >= 0;

// Quotes inside a JSON string are escaped, so this matches members only.
const LONG_LAMPORTS = /("lamports"\s*:\s*)(\d{16,})(?![\d.eE])/g;

/**
 * Parsed JSON in which `lamports` of 16 or more digits are strings, undefined for any other text. A u64 can exceed
 * 2^53, where JSON.parse rounds it silently.
 */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text.replace(LONG_LAMPORTS, '$1"$2"'));
  } catch {
    return undefined;
  }
};

/** The answer to the request `id` in a response body (JSON-RPC 2.0, section 5). */
export const parseEnvelope = (text: string, id: number): Envelope => {
  const answer = parseJson(text);
  return answer === undefined ? "not_json" : envelopeOf(answer, id);
};

/**
 * The answers to a batch, in the order of `ids` and in any order in the body (JSON-RPC 2.0, section 6); undefined when
 * the body is no list. An answer that is missing is malformed.
 */
export const parseBatch = (
  text: string,
  ids: ReadonlyArray<number>,
): ReadonlyArray<Envelope> | undefined => {
  const answers = parseJson(text);
  if (!Array.isArray(answers)) return undefined;
  const byId = new Map((answers as ReadonlyArray<unknown>).map((one) => [idOf(one), one]));
  return ids.map((id) => envelopeOf(byId.get(id), id));
};

const idOf = (answer: unknown): unknown => (isAnswer(answer) ? answer.id : null);

const envelopeOf = (answer: unknown, id: number): Envelope => {
  if (!isAnswer(answer)) return "malformed";
  if (answer.id !== id) return "wrong_id";
  const hasResult = Object.hasOwn(answer, "result");
  const { result, error } = answer as { readonly result?: unknown; readonly error?: unknown };
  if (error !== undefined && error !== null) {
    return isRpcError(error) ? { error: { code: error.code, data: error.data } } : "malformed";
  }
  return hasResult ? { result } : "malformed";
};

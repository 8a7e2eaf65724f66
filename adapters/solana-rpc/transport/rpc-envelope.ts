import { Schema } from "effect";

/** A parsed JSON-RPC answer, or what is wrong with it. */
export type Envelope =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly data: unknown } }
  | "not_json"
  | "wrong_id"
  | "malformed";

const Answer = Schema.Struct({ jsonrpc: Schema.Literal("2.0"), id: Schema.Unknown });
const RpcError = Schema.Struct({
  code: Schema.Int,
  message: Schema.String,
  data: Schema.optionalKey(Schema.Unknown),
});
/** Whether a result is a value with its context (Agave `rpc-client-types`, `Response`). */
export const isValueAtSlot = Schema.is(
  Schema.Struct({ context: Schema.Struct({ slot: Schema.Natural }), value: Schema.Unknown }),
);

const isAnswer = Schema.is(Answer);
const isRpcError = Schema.is(RpcError);

// Quotes inside a JSON string are escaped, so this matches members only.
const LONG_LAMPORTS = /("lamports"\s*:\s*)(\d{16,})(?![\d.eE])/g;

/**
 * Parsed JSON in which `lamports` of 16 or more digits are strings. A u64 can exceed 2^53, where JSON.parse rounds it
 * silently.
 */
export const parseJson = (text: string): unknown =>
  JSON.parse(text.replace(LONG_LAMPORTS, '$1"$2"'));

/** The answer to the request `id` in a response body (JSON-RPC 2.0, section 5). */
export const parseEnvelope = (text: string, id: number): Envelope => {
  let answer: unknown;
  try {
    answer = parseJson(text);
  } catch {
    return "not_json";
  }
  return envelopeOf(answer, id);
};

/**
 * The answers to a batch, in the order of `ids` and in any order in the body (JSON-RPC 2.0, section 6); undefined when
 * the body is no list. An answer that is missing is malformed.
 */
export const parseBatch = (
  text: string,
  ids: ReadonlyArray<number>,
): ReadonlyArray<Envelope> | undefined => {
  let answers: unknown;
  try {
    answers = parseJson(text);
  } catch {
    return undefined;
  }
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

/** One request to a node. */
export type RpcCall = {
  readonly id: number;
  readonly method: string;
  readonly params: ReadonlyArray<unknown>;
};

/** What a JSON-RPC method answers: a result, or an error object. */
export type RpcAnswer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string } };

/** JSON text that is inserted unchanged, because its numbers exceed what JSON.stringify can write. */
export class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Marks a number that exceeds what a JavaScript number holds exactly. */
const MARK = "u64:";

/** Parses JSON without rounding: whole numbers of 16 or more digits become marked strings. */
export const parseExactly = (text: string): unknown =>
  JSON.parse(text.replace(/([:[,]\s*)(\d{16,})(?=\s*[,}\]])/g, `$1"${MARK}$2"`));

/** The JSON of what `parseExactly` returned, with the same numbers. */
export const printExactly = (value: unknown): string =>
  JSON.stringify(value).replace(new RegExp(`"${MARK}(\\d+)"`, "g"), "$1");

/** The result in an answer as `parseExactly` returns it, undefined for an error. */
export const resultOf = (answer: object): unknown => {
  const result = "result" in answer ? answer.result : undefined;
  return result instanceof JsonText ? parseExactly(result.text) : result;
};

/** A result's JSON. */
export const resultText = (result: unknown): string =>
  result instanceof JsonText ? result.text : printExactly(result ?? null);

/** The body of the answer to a request. */
export const answerText = (id: number, answer: RpcAnswer): string =>
  "error" in answer
    ? JSON.stringify({ jsonrpc: "2.0", error: answer.error, id })
    : `{"jsonrpc":"2.0","result":${resultText(answer.result)},"id":${id}}`;

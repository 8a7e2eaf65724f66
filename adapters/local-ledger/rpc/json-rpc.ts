import { decodeJson, encodeJson } from "../runtime/json-text.ts";
import { PreEncoded } from "./encoding/account-encoding.ts";
import { invalidRequest, RpcError, RpcErrorCode, type RpcMethod } from "./rpc-params.ts";

type Id = string | number | bigint | null;
type Pieces = ReadonlyArray<string>;

const errorPieces = (id: Id, error: RpcError): Pieces => {
  const { code, message, data } = error;
  const body = data === undefined ? { code, message } : { code, message, data };
  return [encodeJson({ jsonrpc: "2.0", error: body, id })];
};

const resultPieces = (id: Id, result: unknown): Pieces => {
  const pieces = result instanceof PreEncoded ? result.pieces : [encodeJson(result ?? null)];
  return ['{"jsonrpc":"2.0","result":', ...pieces, `,"id":${encodeJson(id)}}`];
};

const toRpcError = (cause: unknown): RpcError => {
  if (cause instanceof RpcError) return cause;
  process.stderr.write(`local-ledger: ${cause instanceof Error ? cause.stack : String(cause)}\n`);
  return new RpcError(RpcErrorCode.internalError, "Internal error");
};

const isId = (value: unknown): value is Id =>
  value === null || ["string", "number", "bigint"].includes(typeof value);

/** Answers JSON-RPC 2.0 requests and batches. A request without an id is a notification and gets no answer. */
export const jsonRpc = (methods: (name: string) => RpcMethod | undefined) => {
  const answer = (request: unknown): Pieces | undefined => {
    const { jsonrpc, id, method, params } = (
      typeof request === "object" && request !== null ? request : {}
    ) as Readonly<Record<string, unknown>>;
    if (jsonrpc !== "2.0" || typeof method !== "string" || (id !== undefined && !isId(id)))
      return errorPieces(isId(id) ? id : null, invalidRequest());
    if (id === undefined) return undefined;
    try {
      const run = methods(method);
      if (run === undefined) throw new RpcError(RpcErrorCode.methodNotFound, "Method not found");
      if (params !== undefined && params !== null && !Array.isArray(params))
        throw new RpcError(RpcErrorCode.invalidParams, "`params` should be an array");
      return resultPieces(id, run((params as ReadonlyArray<unknown> | null) ?? []));
    } catch (cause) {
      return errorPieces(id, toRpcError(cause));
    }
  };

  /** The answer to a message as pieces of JSON text; undefined for notifications only. */
  return (text: string): Pieces | undefined => {
    let message: unknown;
    try {
      message = decodeJson(text);
    } catch {
      return errorPieces(null, new RpcError(RpcErrorCode.parseError, "Parse error"));
    }
    if (!Array.isArray(message)) return answer(message);
    if (message.length === 0) return errorPieces(null, invalidRequest());
    const answers = message.map(answer).filter((pieces) => pieces !== undefined);
    if (answers.length === 0) return undefined;
    const pieces = answers.flatMap((one) => [",", one].flat());
    return ["[", ...pieces.slice(1), "]"];
  };
};

/** JSON-RPC and Solana error codes (JSON-RPC 2.0, section 5.1; Agave `rpc-client-api/src/custom_error.rs`). */
export const RpcErrorCode = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  sendTransactionPreflightFailure: -32002,
  transactionSignatureVerificationFailure: -32003,
  blockNotAvailable: -32004,
  unsupportedTransactionVersion: -32015,
  minContextSlotNotReached: -32016,
} as const;

/** A failure that is reported to a JSON-RPC caller, with its code and, for some codes, data. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The RpcError of a request that Agave refuses without a reason. */
export const invalidRequest = (): RpcError =>
  new RpcError(RpcErrorCode.invalidRequest, "Invalid request");

/** An RpcError for parameters that are not what the method takes. */
export const invalidParams = (message: string): RpcError =>
  new RpcError(RpcErrorCode.invalidParams, message);

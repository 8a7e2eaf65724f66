/**
 * The JSON-RPC error codes of a Solana node that need special treatment (Agave `rpc-client-types/src/custom_error.rs`;
 * JSON-RPC 2.0, section 5.1).
 */
export const PREFLIGHT_FAILED = -32002;
export const SIGNATURE_VERIFICATION_FAILED = -32003;
export const NODE_UNHEALTHY = -32005;
export const PRECOMPILE_VERIFICATION_FAILED = -32006;
export const KEY_EXCLUDED_FROM_INDEX = -32010;
export const HISTORY_NOT_AVAILABLE = -32011;
export const SCAN_FAILED = -32012;
export const SIGNATURE_COUNT_MISMATCH = -32013;
export const UNSUPPORTED_TRANSACTION_VERSION = -32015;
export const MIN_CONTEXT_SLOT_NOT_REACHED = -32016;
export const LONG_TERM_STORAGE_UNREACHABLE = -32019;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;

/** What an error code means for the next request. */
export type ErrorCodeMeaning =
  /** Any node would say the same. */
  | "refused"
  /** This node cannot answer, another may. */
  | "unable"
  /** This node has not reached the slot asked for, but soon will. */
  | "behind"
  /** This node is not healthy. */
  | "unwell";

const MEANING: ReadonlyMap<number, ErrorCodeMeaning> = new Map([
  [PREFLIGHT_FAILED, "refused"],
  [SIGNATURE_VERIFICATION_FAILED, "refused"],
  [PRECOMPILE_VERIFICATION_FAILED, "refused"],
  [SIGNATURE_COUNT_MISMATCH, "refused"],
  [UNSUPPORTED_TRANSACTION_VERSION, "refused"],
  [INVALID_PARAMS, "refused"],
  [KEY_EXCLUDED_FROM_INDEX, "unable"],
  [HISTORY_NOT_AVAILABLE, "unable"],
  [SCAN_FAILED, "unable"],
  [LONG_TERM_STORAGE_UNREACHABLE, "unable"],
  [METHOD_NOT_FOUND, "unable"],
  [MIN_CONTEXT_SLOT_NOT_REACHED, "behind"],
  [NODE_UNHEALTHY, "unwell"],
]);

/** The meaning of a code. An unknown one counts as a fault of the node. */
export const errorCodeMeaning = (code: number): ErrorCodeMeaning => MEANING.get(code) ?? "unwell";

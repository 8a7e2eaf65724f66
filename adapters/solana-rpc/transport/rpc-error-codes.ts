/*
 * The JSON-RPC error codes of a Solana node that need special treatment (Agave `rpc-client-types/src/custom_error.rs`;
 * JSON-RPC 2.0, section 5.1).
 */

/** The simulation before a send failed. */
export const PREFLIGHT_FAILED = -32002;
/** A transaction's signature is wrong. */
export const SIGNATURE_VERIFICATION_FAILED = -32003;
/** The node is not healthy, for example far behind its cluster. */
export const NODE_UNHEALTHY = -32005;
/** A precompile, such as Ed25519, refused its instruction. */
export const PRECOMPILE_VERIFICATION_FAILED = -32006;
/** The account index of the node leaves this key out. */
export const KEY_EXCLUDED_FROM_INDEX = -32010;
/** The node keeps no history of transactions. */
export const HISTORY_NOT_AVAILABLE = -32011;
/** A scan of accounts was broken off. */
export const SCAN_FAILED = -32012;
/** A transaction has another number of signatures than signers. */
export const SIGNATURE_COUNT_MISMATCH = -32013;
/** The transaction is of a version that the request does not take. */
export const UNSUPPORTED_TRANSACTION_VERSION = -32015;
/** The node has not reached the `minContextSlot` of the request. */
export const MIN_CONTEXT_SLOT_NOT_REACHED = -32016;
/** The node's store of old transactions does not answer. */
export const LONG_TERM_STORAGE_UNREACHABLE = -32019;
/** The node does not offer the method. */
export const METHOD_NOT_FOUND = -32601;
/** The parameters do not fit the method. */
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

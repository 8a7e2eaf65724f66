import { Data } from "effect";
import type { LedgerFault } from "../../../ports/ledger/ledger.ts";

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

/**
 * An RPC address without secrets: `scheme://host`, and the port if there is one. Credentials, path and query are left
 * out, because providers put API keys there.
 */
export const redactedRpcAddress = (url: URL | string): string => {
  const parsed = URL.parse(url);
  return parsed === null || parsed.host === ""
    ? "unreadable address"
    : `${parsed.protocol}//${parsed.host}`;
};

/**
 * The milliseconds that a `Retry-After` header asks for (RFC 9110, section 10.2.3: delta-seconds or an HTTP date), null
 * for any other value. `nowMs` is wall-clock time; a date is relative to it.
 */
export const retryAfterMs = (header: string | null, nowMs: number): number | null => {
  const text = header?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  // Date.parse accepts far more than HTTP dates, so the leading weekday is required.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /.test(text)) return null;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
};

/** What each failure says of itself: who was asked what. None carries a message of the node or the runtime. */
type Asked = {
  /** Redacted address. */
  readonly node: string;
  /** The JSON-RPC method that was asked. */
  readonly method: string;
};

const kindText = ({
  node,
  method,
  kind,
  code,
}: Asked & { kind: string; code: number | string | null }) =>
  `${node}: ${method}: ${kind}${code === null ? "" : ` (${code})`}`;

/**
 * How a node failed. None of these carries a message of the node or the runtime: messages quote the address, which may
 * hold an API key.
 */
export type NodeFaultKind =
  | "unreachable"
  | "timeout"
  | "rate_limited"
  | "http_status"
  | "oversize"
  | "not_json"
  | "wrong_id"
  | "malformed"
  | "slot_beyond_reach"
  | "wrong_ledger"
  | "unwell";

/** A node gave no usable answer. It is not asked for a while. */
export class NodeFault extends Data.TaggedError("NodeFault")<
  Asked & {
    readonly kind: NodeFaultKind;
    /** HTTP status, JSON-RPC error code or the runtime's error code, null without one. */
    readonly code: number | string | null;
    /** The milliseconds of the node's `Retry-After`, null without one. */
    readonly retryAfterMs: number | null;
  }
> {
  override get message(): string {
    return kindText(this);
  }
}

/** A healthy node cannot answer this: it is `behind`, or does not serve such requests. */
export class NodeUnable extends Data.TaggedError("NodeUnable")<
  Asked & {
    readonly kind: "behind" | "http_status" | "rpc_error";
    /** HTTP status or JSON-RPC error code; null when its slot is below the one asked for. */
    readonly code: number | null;
  }
> {
  override get message(): string {
    return kindText(this);
  }
}

/** A node refused the request, as any node would. */
export class RpcRefusal extends Data.TaggedError("RpcRefusal")<
  Asked & {
    readonly code: number;
    /** The error's `data` as the node sent it. */
    readonly data: unknown;
  }
> {
  override get message(): string {
    return `${this.node}: ${this.method}: refused with JSON-RPC error ${this.code}`;
  }
}

/** How one request to one node fails. */
export type NodeFailure = NodeFault | NodeUnable | RpcRefusal;

type Kind = NodeFault["kind"] | NodeUnable["kind"] | "refused";

const CURES: Readonly<Record<Kind, string>> = {
  unreachable: "Check that the node runs and that its address in SOLANA_RPC_URL is right.",
  timeout: "The node is slow or overloaded: wait, or add another node to SOLANA_RPC_URL.",
  rate_limited: "The provider limits requests: wait, raise the plan, or add another node.",
  http_status:
    "Look the status up with the provider; 401 and 403 mean a wrong or missing key, 302, 404 and 405 no node at that address: check SOLANA_RPC_URL.",
  oversize: "The answer is too long: use a node that takes filters.",
  not_json:
    "The address does not speak JSON-RPC, or a proxy stands in front: check SOLANA_RPC_URL.",
  wrong_id: "A proxy mixes up answers: check what stands in front of the node.",
  malformed: "The node answers in another form than Solana's JSON-RPC: use another node.",
  slot_beyond_reach:
    "The node shows a slot that the ledger cannot have reached: compare it with another node's, or use another node.",
  wrong_ledger: "The node serves another ledger: correct SOLANA_RPC_URL or SOLANA_CLUSTER.",
  unwell: "The node reports a fault of its own: wait, or use another node.",
  behind: "The node lags behind what was seen before: wait, or use another node.",
  rpc_error: "The node does not serve this request: use another node or plan.",
  refused: "The node does not take the request's form: use another node.",
};

const cureOf = (kind: Kind, rpcCode: number | null): string => {
  if (rpcCode === NODE_UNHEALTHY) return "The node is catching up: wait, or use another node.";
  if (rpcCode === METHOD_NOT_FOUND)
    return "The node does not serve this method: use another node or plan.";
  if (rpcCode === HISTORY_NOT_AVAILABLE)
    return "The node keeps no transaction history: use one that does.";
  return CURES[kind];
};

/** A call that took too long as a whole, at whichever node. */
export const timeoutFault = (method: string): LedgerFault => ({
  node: null,
  method,
  kind: "timeout",
  httpStatus: null,
  rpcCode: null,
  retryAfterMs: null,
  cure: CURES.timeout,
});

/** A failed request as operators are told of it. */
export const ledgerFaultOf = (failed: NodeFailure): LedgerFault => {
  const { node, method, code } = failed;
  const kind = failed._tag === "RpcRefusal" ? "refused" : failed.kind;
  const isStatus = typeof code === "number" && code >= 100 && code <= 599;
  const number = typeof code === "number" ? code : null;
  const rpcCode = isStatus ? null : number;
  return {
    node,
    method,
    kind,
    httpStatus: isStatus ? number : null,
    rpcCode,
    retryAfterMs: failed._tag === "NodeFault" ? failed.retryAfterMs : null,
    cure: cureOf(kind, rpcCode),
  };
};

import { Data } from "effect";

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
export class NodeFault extends Data.TaggedError("NodeFault")<{
  /** Redacted address. */
  readonly node: string;
  /** The JSON-RPC method that was asked. */
  readonly method: string;
  readonly kind: NodeFaultKind;
  /** HTTP status, JSON-RPC error code or the runtime's error code, null without one. */
  readonly code: number | string | null;
  /** The milliseconds of the node's `Retry-After`, null without one. */
  readonly retryAfterMs: number | null;
}> {
  override get message(): string {
    return `${this.node}: ${this.method}: ${this.kind}${this.code === null ? "" : ` (${this.code})`}`;
  }
}

/** A healthy node cannot answer this: it is `behind`, or does not serve such requests. */
export class NodeUnable extends Data.TaggedError("NodeUnable")<{
  /** Redacted address. */
  readonly node: string;
  /** The JSON-RPC method that was asked. */
  readonly method: string;
  readonly kind: "behind" | "http_status" | "rpc_error";
  /** HTTP status or JSON-RPC error code; null when its slot is below the one asked for. */
  readonly code: number | null;
}> {
  override get message(): string {
    return `${this.node}: ${this.method}: ${this.kind}${this.code === null ? "" : ` (${this.code})`}`;
  }
}

/** A node refused the request, as any node would. */
export class RpcRefusal extends Data.TaggedError("RpcRefusal")<{
  /** Redacted address. */
  readonly node: string;
  /** The JSON-RPC method that was asked. */
  readonly method: string;
  readonly code: number;
  /** The error's `data` as the node sent it. */
  readonly data: unknown;
}> {
  override get message(): string {
    return `${this.node}: ${this.method}: refused with JSON-RPC error ${this.code}`;
  }
}

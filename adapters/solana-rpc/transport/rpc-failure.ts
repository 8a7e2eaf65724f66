import { Data } from "effect";

/**
 * How a node failed. None of these carries what the node or the runtime said in words: such text quotes
 * the address, and the address may hold an API key.
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
  | "wrong_ledger"
  | "unwell";

/** A node gave no usable answer, and is left alone for a while. */
export class NodeFault extends Data.TaggedError("NodeFault")<{
  /** Redacted address. */
  readonly node: string;
  readonly kind: NodeFaultKind;
  /** HTTP status, JSON-RPC error code or the runtime's error code, where there is one. */
  readonly code: number | string | null;
  /** How long the node asked to be left alone, milliseconds. */
  readonly retryAfterMs: number | null;
}> {
  override get message(): string {
    return `${this.node}: ${this.kind}${this.code === null ? "" : ` (${this.code})`}`;
  }
}

/** A node is well but cannot answer this: it is `behind`, or does not serve such calls. */
export class NodeUnable extends Data.TaggedError("NodeUnable")<{
  /** Redacted address. */
  readonly node: string;
  readonly kind: "behind" | "http_status" | "rpc_error";
  /** HTTP status or JSON-RPC error code, null for a slot below the one asked for. */
  readonly code: number | null;
}> {
  override get message(): string {
    return `${this.node}: ${this.kind}${this.code === null ? "" : ` (${this.code})`}`;
  }
}

/** A node refused what was asked, as any node would. */
export class RpcRefusal extends Data.TaggedError("RpcRefusal")<{
  readonly code: number;
  /** The error's `data` as the node sent it. */
  readonly data: unknown;
}> {
  override get message(): string {
    return `refused with JSON-RPC error ${this.code}`;
  }
}

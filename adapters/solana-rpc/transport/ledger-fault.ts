import type { LedgerFault } from "../../../ports/ledger/ledger.ts";
import { HISTORY_NOT_AVAILABLE, METHOD_NOT_FOUND, NODE_UNHEALTHY } from "./rpc-error-codes.ts";
import type { NodeFault, NodeUnable, RpcRefusal } from "./rpc-failure.ts";

/** One failed request to one node. */
export type FailedRequest = NodeFault | NodeUnable | RpcRefusal;

type Kind = NodeFault["kind"] | NodeUnable["kind"] | "refused";

const CURES: Readonly<Record<Kind, string>> = {
  unreachable: "Check that the node runs and that its address in SOLANA_RPC_URL is right.",
  timeout: "The node is slow or overloaded: wait, or add another node to SOLANA_RPC_URL.",
  rate_limited: "The provider limits requests: wait, raise the plan, or add another node.",
  http_status: "Look the status up with the provider; 401 and 403 mean a wrong or missing key.",
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
export const ledgerFaultOf = (failed: FailedRequest): LedgerFault => {
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

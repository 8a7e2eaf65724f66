import { type Address, parseAddress } from "../../core/domain/address.ts";
import { decodeBase64 } from "../../core/domain/encoding/base64.ts";
import type { Answer, Requests } from "./requests.ts";
import { SettlementError } from "../settlement-error.ts";

/** A node of the ledger that the caller chose. */
export type LedgerNode = {
  /** Host and port: the address itself can hold a key, so no message repeats it. */
  readonly host: string;
  readonly requests: Requests;
};

/** An account as a node shows it. */
export type ShownAccount = { readonly owner: Address; readonly data: Uint8Array };

/** The failure of a node that gives no answer that decides. */
export const nodeUnusable = (reason: string): SettlementError =>
  new SettlementError(
    "node_unusable",
    reason,
    "Check the address of the node, or name another one, and run the same again: nothing is paid twice.",
  );

/**
 * The nodes at these addresses, one or several. @throws SettlementError `invalid_rpc`
 */
export const ledgerNodes = (
  rpc: string | ReadonlyArray<string>,
  connected: (url: string) => Requests,
): ReadonlyArray<LedgerNode> => {
  const urls = typeof rpc === "string" ? [rpc] : rpc;
  try {
    const nodes = urls.map((url) => ({ requests: connected(url), host: new URL(url).host }));
    if (nodes.length > 0) return nodes;
  } catch {
    // One of them is no address.
  }
  throw new SettlementError(
    "invalid_rpc",
    "rpc is no http or https address of a node.",
    "Give the address of a node of the ledger, such as https://api.devnet.solana.com.",
  );
};

/** The result of a node's JSON-RPC method. @throws SettlementError `node_unusable` without one */
export const resultOf = async (
  { requests }: LedgerNode,
  method: string,
  params: ReadonlyArray<unknown>,
  signal?: AbortSignal,
): Promise<unknown> => {
  const body = { jsonrpc: "2.0", id: 1, method, params };
  const { status, text }: Answer = await requests
    .answer("", { body, signal })
    .catch((cause: unknown) => {
      signal?.throwIfAborted();
      throw cause instanceof SettlementError ? nodeUnusable("it does not answer") : cause;
    });
  try {
    const answer: unknown = JSON.parse(text);
    if (typeof answer === "object" && answer !== null && "result" in answer) return answer.result;
  } catch {
    // Something between here and the node answered.
  }
  throw nodeUnusable(`it answers ${method} with ${status} and without a result`);
};

/** @throws SettlementError `node_unusable` for a node of another ledger than that of this genesis hash, base58 */
export const requireLedger = async (
  node: LedgerNode,
  genesisHash: string,
  signal?: AbortSignal,
): Promise<void> => {
  if ((await resultOf(node, "getGenesisHash", [], signal)) !== genesisHash)
    throw nodeUnusable("it is a node of another ledger than the trust document's");
};

/** The account in a node's JSON, null where there is none. @throws SettlementError `node_unusable` for another form */
export const accountIn = (value: unknown): ShownAccount | null => {
  if (value === null) return null;
  const shown = (value ?? {}) as { readonly owner?: unknown; readonly data?: unknown };
  const [base64]: ReadonlyArray<unknown> = Array.isArray(shown.data) ? shown.data : [];
  const owner = typeof shown.owner === "string" ? parseAddress(shown.owner) : undefined;
  const data = typeof base64 === "string" ? decodeBase64(base64) : undefined;
  if (owner === undefined || data === undefined)
    throw nodeUnusable("it shows no account in base64");
  return { owner, data };
};

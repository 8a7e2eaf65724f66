import { type Address, parseAddress } from "../../core/domain/address.ts";
import { decodeBase64 } from "../../core/domain/encoding/base64.ts";
import type { TrustPolicy } from "../../core/domain/evidence/evidence-check.ts";
import { formatUnixTime } from "../../core/domain/unix-time.ts";
import { decodeArchivedEscrowAccount } from "../../core/protocol/accounts/archived-escrow-account.ts";
import { decodeEscrowAccount } from "../../core/protocol/accounts/escrow-account.ts";
import type { Answer, ClientClock, Requests } from "../service/requests.ts";
import { SettlementError } from "../settlement-error.ts";
import { type EscrowTerms, onceThere } from "./escrow-there.ts";
import { deploymentIn } from "./payment-terms.ts";

/**
 * What the ledger itself shows at an escrow's address: its terms, or `archived` for a tombstone, which shows none.
 * @throws SettlementError `not_on_ledger` when no escrow stands there, `node_unusable` when no node gives an answer
 * that decides, and what the signal was aborted with.
 */
export type EscrowOnLedger = (
  escrow: Address,
  signal?: AbortSignal,
) => Promise<EscrowTerms | "archived">;

type Node = { readonly host: string; readonly requests: Requests };

const unusable = (reason: string): SettlementError =>
  new SettlementError(
    "node_unusable",
    reason,
    "Check the address of the node, or name another one, and run the same again: nothing is paid twice.",
  );

/**
 * The nodes at these addresses. The message repeats none, because it can hold a key. @throws SettlementError
 * `invalid_rpc`
 */
const nodesAt = (
  urls: ReadonlyArray<string>,
  connected: (url: string) => Requests,
): ReadonlyArray<Node> => {
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
const resultOf = async (
  { requests }: Node,
  method: string,
  params: ReadonlyArray<unknown>,
  signal?: AbortSignal,
): Promise<unknown> => {
  const body = { jsonrpc: "2.0", id: 1, method, params };
  const { status, text }: Answer = await requests
    .answer("", { body, signal })
    .catch((cause: unknown) => {
      signal?.throwIfAborted();
      throw cause instanceof SettlementError ? unusable("it does not answer") : cause;
    });
  try {
    const answer: unknown = JSON.parse(text);
    if (typeof answer === "object" && answer !== null && "result" in answer) return answer.result;
  } catch {
    // Something between here and the node answered.
  }
  throw unusable(`it answers ${method} with ${status} and without a result`);
};

/** The account in the result of `getAccountInfo`, null where there is none. @throws SettlementError `node_unusable` */
const accountIn = (
  result: unknown,
): { readonly owner: Address; readonly data: Uint8Array } | null => {
  const { value } = (result ?? {}) as { readonly value?: unknown };
  if (value === null) return null;
  const shown = (value ?? {}) as { readonly owner?: unknown; readonly data?: unknown };
  const [base64]: ReadonlyArray<unknown> = Array.isArray(shown.data) ? shown.data : [];
  const owner = typeof shown.owner === "string" ? parseAddress(shown.owner) : undefined;
  const data = typeof base64 === "string" ? decodeBase64(base64) : undefined;
  if (owner === undefined || data === undefined) throw unusable("it shows no account in base64");
  return { owner, data };
};

/**
 * What a node shows at the escrow's address at `confirmed`; null for nothing, and for an account that is no escrow,
 * since anyone can send SOL there.
 */
const shownBy = async (
  node: Node,
  escrow: Address,
  policy: TrustPolicy,
  signal?: AbortSignal,
): Promise<EscrowTerms | "archived" | null> => {
  const options = { encoding: "base64", commitment: "confirmed" };
  const account = accountIn(await resultOf(node, "getAccountInfo", [escrow, options], signal));
  if (account === null) return null;
  const deployment = deploymentIn(policy);
  if ("value" in decodeArchivedEscrowAccount(account, deployment)) return "archived";
  const decoded = decodeEscrowAccount({ ...account, address: escrow }, deployment);
  if ("fault" in decoded) return null;
  const { value } = decoded;
  return {
    escrow_pda: value.address,
    agent_owner: value.agentOwner,
    task_hash: value.taskHash,
    merchant: value.merchant,
    mint: value.mint,
    amount_stroops: value.amount.toString(),
    attestor: value.attestor,
    created_at: formatUnixTime(value.createdAt),
    expires_at: formatUnixTime(value.expiresAt),
    session_key: value.sessionKey,
  };
};

/**
 * Looks escrows up at nodes that the caller chose, one or several: the next is asked while none before it shows the
 * escrow. A node that shows nothing is asked again for as long as a confirmation takes. @throws SettlementError
 * `invalid_rpc`
 */
export const escrowOnLedger = (
  rpc: string | ReadonlyArray<string>,
  policy: TrustPolicy,
  clock: ClientClock,
  connected: (url: string) => Requests,
): EscrowOnLedger => {
  const nodes = nodesAt(typeof rpc === "string" ? [rpc] : rpc, connected);
  const lookAt = async (node: Node, escrow: Address, signal?: AbortSignal) => {
    if ((await resultOf(node, "getGenesisHash", [], signal)) !== policy.genesisHash)
      throw unusable("it is a node of another ledger than the trust document's");
    return onceThere(() => shownBy(node, escrow, policy, signal), clock, signal);
  };
  return async (escrow, signal) => {
    const absentAt: Array<string> = [];
    const reasons: Array<string> = [];
    for (const node of nodes)
      try {
        const shown = await lookAt(node, escrow, signal);
        if (shown !== null) return shown;
        absentAt.push(node.host);
      } catch (cause) {
        if (!(cause instanceof SettlementError) || cause.code !== "node_unusable") throw cause;
        reasons.push(`${node.host}: ${cause.message}`);
      }
    if (absentAt.length === 0)
      throw unusable(
        `The service says that the payment is locked in ${escrow}, and no node gives an answer that decides. ${reasons.join("; ")}.`,
      );
    throw new SettlementError(
      "not_on_ledger",
      `The service says that the payment is locked in ${escrow}, and ${absentAt.join(", ")} shows no escrow there.`,
      "Do not count it as paid. Run the same again with the same nonce, by a service that you trust: nothing is paid twice.",
    );
  };
};

import type { Address } from "../../core/domain/address.ts";
import type { TrustPolicy } from "../../core/domain/evidence/evidence-check.ts";
import { formatUnixTime } from "../../core/domain/unix-time.ts";
import { decodeArchivedEscrowAccount } from "../../core/protocol/accounts/archived-escrow-account.ts";
import { decodeEscrowAccount } from "../../core/protocol/accounts/escrow-account.ts";
import {
  accountIn,
  type LedgerNode,
  ledgerNodes,
  nodeUnusable,
  requireLedger,
  resultOf,
} from "../service/ledger-nodes.ts";
import type { ClientClock, Requests } from "../service/requests.ts";
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

/**
 * What a node shows at the escrow's address at `confirmed`; null for nothing, and for an account that is no escrow,
 * since anyone can send SOL there.
 */
const shownBy = async (
  node: LedgerNode,
  escrow: Address,
  policy: TrustPolicy,
  signal?: AbortSignal,
): Promise<EscrowTerms | "archived" | null> => {
  const options = { encoding: "base64", commitment: "confirmed" };
  const result = await resultOf(node, "getAccountInfo", [escrow, options], signal);
  const account = accountIn((result as { readonly value?: unknown } | null)?.value);
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
  const nodes = ledgerNodes(rpc, connected);
  const lookAt = async (node: LedgerNode, escrow: Address, signal?: AbortSignal) => {
    await requireLedger(node, policy.genesisHash, signal);
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
      throw nodeUnusable(
        `The service says that the payment is locked in ${escrow}, and no node gives an answer that decides. ${reasons.join("; ")}.`,
      );
    throw new SettlementError(
      "not_on_ledger",
      `The service says that the payment is locked in ${escrow}, and ${absentAt.join(", ")} shows no escrow there.`,
      "Do not count it as paid. Run the same again with the same nonce, by a service that you trust: nothing is paid twice.",
    );
  };
};

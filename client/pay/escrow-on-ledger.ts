import type { Address } from "../../core/domain/address.ts";
import type { Escrow } from "../../core/domain/escrow/escrow.ts";
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
  type ShownAccount,
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

/** How far the ledger must have come with what a node shows. */
type Commitment = "confirmed" | "finalized";

/** What an account is to the reader; null for one that is no escrow, since anyone can send SOL to its address. */
type Reading<A> = (account: ShownAccount, escrow: Address) => A | null;

const shownBy = async <A>(
  node: LedgerNode,
  escrow: Address,
  commitment: Commitment,
  read: Reading<A>,
  signal?: AbortSignal,
): Promise<A | null> => {
  const options = { encoding: "base64", commitment };
  const result = await resultOf(node, "getAccountInfo", [escrow, options], signal);
  const account = accountIn((result as { readonly value?: unknown } | null)?.value);
  return account === null ? null : read(account, escrow);
};

/** The nodes of a caller, and what is needed to ask them. */
export type OwnNodes = {
  readonly rpc: string | ReadonlyArray<string>;
  readonly policy: TrustPolicy;
  readonly clock: ClientClock;
  readonly connected: (url: string) => Requests;
};

/**
 * Looks accounts up at nodes that the caller chose, one or several: the next is asked while none before it shows the
 * escrow. A node that shows nothing is asked again for as long as a confirmation takes. @throws SettlementError
 * `invalid_rpc`
 */
const lookUp = <A>(
  { rpc, policy, clock, connected }: OwnNodes,
  commitment: Commitment,
  read: Reading<A>,
): ((escrow: Address, signal?: AbortSignal) => Promise<A>) => {
  const nodes = ledgerNodes(rpc, connected);
  const lookAt = async (node: LedgerNode, escrow: Address, signal?: AbortSignal) => {
    await requireLedger(node, policy.genesisHash, signal);
    return onceThere(() => shownBy(node, escrow, commitment, read, signal), clock, signal);
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

/** The terms that an escrow's account holds. */
export const termsIn = (value: Escrow): EscrowTerms => ({
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
});

/** An escrow by nodes of the caller's choice, at `confirmed`. @throws SettlementError `invalid_rpc` */
export const escrowOnLedger = (nodes: OwnNodes): EscrowOnLedger => {
  const deployment = deploymentIn(nodes.policy);
  return lookUp(nodes, "confirmed", (account, escrow) => {
    if ("value" in decodeArchivedEscrowAccount(account, deployment)) return "archived";
    const decoded = decodeEscrowAccount({ ...account, address: escrow }, deployment);
    return "fault" in decoded ? null : termsIn(decoded.value);
  });
};

/**
 * An escrow's account once it is finalized, as the ledger has it: its owner and its bytes. Rejects as `EscrowOnLedger`
 * does.
 */
export type FinalAccount = (escrow: Address, signal?: AbortSignal) => Promise<ShownAccount>;

/** A whole escrow's account by nodes of the caller's choice, at `finalized`. @throws SettlementError `invalid_rpc` */
export const finalAccountOnLedger = (nodes: OwnNodes): FinalAccount => {
  const deployment = deploymentIn(nodes.policy);
  return lookUp(nodes, "finalized", (account, escrow) =>
    "fault" in decodeEscrowAccount({ ...account, address: escrow }, deployment) ? null : account,
  );
};

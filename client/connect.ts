import { escrowOnLedger, finalAccountOnLedger } from "./pay/escrow-on-ledger.ts";
import { finalAccountByPacket } from "./pay/packet-there.ts";
import { type Paid, pay } from "./pay/pay.ts";
import type { Payment } from "./pay/payment-terms.ts";
import { type Refunded, refund } from "./pay/refund.ts";
import { type Settled, settled, type SettledOptions } from "./pay/settled.ts";
import { spendGuard, type SpendLimits } from "./pay/spend-limits.ts";
import { policyIn } from "./pinned-policy.ts";
import { type ClientClock, requestsTo, systemClock } from "./service/requests.ts";
import { agentSession, type Session, type SessionOptions } from "./sessions/agent/session.ts";
import type { Fetch } from "./service/fetch-directly.ts";
import type { AcceptedSigner } from "./signing/sign-transaction.ts";

/** How a client is connected. */
export type ConnectOptions = {
  /**
   * The trust document (`/.well-known/evidence-trust.json`), obtained beforehand and kept: its text, or the object that
   * JSON makes of it. It names the ledger, the programs, the mints and the keys that this client believes, whatever the
   * service says later.
   */
  readonly trust: string | object;
  /** What may be spent. Without it every payment is allowed. */
  readonly spend?: SpendLimits;
  /** The most that a transaction may pay for priority, in lamports; 1,000,000 when left out. */
  readonly mostPriorityFee?: bigint;
  /**
   * Addresses of ledger nodes, chosen by you and not by the service. `pay` reads its escrow there before it says
   * `same`. Several are tried in this order. Without them `pay` only has the service's word and says `unproven`.
   */
  readonly rpc?: string | ReadonlyArray<string>;
  /** Used instead of the global `fetch`, for the service and the nodes. */
  readonly fetch?: Fetch;
  /** Used instead of the machine's clock. */
  readonly clock?: ClientClock;
  /** Used instead of `Math.random`, for the random part of pauses between retries. Gives numbers in [0, 1). */
  readonly random?: () => number;
};

/** An agent's side of a service. */
export type SettlementClient = {
  /**
   * Locks a payment for a merchant in an escrow and returns once the service confirms it. With `rpc` the escrow is also
   * read from the ledger. Safe to run again with the same nonce after any failure: it is never paid twice.
   */
  readonly pay: (
    payment: Payment & { readonly signer: AcceptedSigner; readonly signal?: AbortSignal },
  ) => Promise<Paid>;
  /**
   * Opens a session, one escrow for many calls to one merchant, and returns once it is finalized: by the nodes of
   * `rpc`, else by the packet that the service signs. With a journal that has a session, that one goes on.
   */
  readonly session: (options: SessionOptions) => Promise<Session>;
  /**
   * Returns to its agent what an ended or a settled escrow still holds; `signer` pays the fee. Safe to run again after
   * any failure.
   */
  readonly refund: (
    escrow: string,
    how: { readonly signer: AcceptedSigner; readonly signal?: AbortSignal },
  ) => Promise<Refunded>;
  /** Waits until an escrow is settled and gives its evidence, verified under the trust document. */
  readonly settled: (escrow: string, options?: SettledOptions) => Promise<Settled>;
};

/**
 * A client of the service at `url`, http or https. Opens no connection yet. @throws SettlementError for a wrong option.
 * @example
 * import { connect } from "settlement-evidence";
 *
 * const client = connect(service, { trust, spend: { maxPerEscrow: "5.00" } });
 * typeof client.pay; // => "function"
 */
export const connect = (url: string, options: ConnectOptions): SettlementClient => {
  const policy = policyIn(options.trust);
  const { clock = systemClock, rpc } = options;
  const connected = (to: string) => requestsTo(to, options.fetch, clock, options.random);
  const requests = connected(url);
  const nodes = rpc === undefined ? null : { rpc, policy, clock, connected };
  const onLedger = nodes === null ? null : escrowOnLedger(nodes);
  const allow =
    options.spend === undefined ? () => Promise.resolve() : spendGuard(options.spend, clock.nowMs);
  const { mostPriorityFee } = options;
  const context = { requests, policy, allow, onLedger, mostPriorityFee };
  const finalAccount =
    nodes === null ? finalAccountByPacket(requests, policy) : finalAccountOnLedger(nodes);
  return {
    pay: (payment) => pay(context, payment),
    session: async (session) => agentSession({ ...context, finalAccount }, session),
    refund: (escrow, { signer, signal }) =>
      refund({ requests, policy, mostPriorityFee }, escrow, signer, signal),
    settled: (escrow, how) => settled(requests, policy, escrow, how),
  };
};

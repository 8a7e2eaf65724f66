import type { TrustPolicy } from "../../../core/domain/evidence/evidence-check.ts";
import type { SupportedMint } from "../../../core/domain/supported-mint.ts";
import { attestorKey } from "../../merchant/register.ts";
import { mintOf, unitsOf } from "../../pay/payment-terms.ts";
import { addressNamed, policyIn } from "../../pinned-policy.ts";
import { boundedBytes, type Fetch } from "../../service/fetch-directly.ts";
import { ledgerNodes } from "../../service/ledger-nodes.ts";
import { type ClientClock, requestsTo, systemClock } from "../../service/requests.ts";
import { SettlementError } from "../../settlement-error.ts";
import { messageSignerOf, type SellerKey } from "../../signing/sign-transaction.ts";
import type { SessionStore } from "../store/session-store.ts";
import { accountNews, type OpenSocket, socketUrlOf } from "./account-news.ts";
import { answerCall } from "./answer-call.ts";
import { attestedFinal, AttestorUnusable } from "./attest-calls.ts";
import { captures } from "./captures.ts";
import { ledgerLooks } from "./ledger-looks.ts";
import { ledgerView } from "./ledger-view.ts";
import { callRequirements, offerAnswer } from "./offer.ts";
import { refusalAnswer } from "./refusal.ts";
import type { SessionAttestor } from "./session-attestor.ts";
import type { PendingCapture } from "./settle-session.ts";
import type { PaidCall, SellerContext } from "./seller-context.ts";
import { answerOf } from "./sent-answer.ts";
import { sessionHeads } from "./watchtower.ts";
import { guardedStore, StoreUnusable } from "./guarded-store.ts";
import { noticingAttestor, noticingStore, storeBeginning } from "./restored-store.ts";

/** How a seller is set up. */
export type SellerOptions = {
  /** The address of the service that prepares and relays captures. */
  readonly service: string;
  /** The service's trust document, obtained beforehand and kept: its text, or the object that JSON makes of it. */
  readonly trust: string | object;
  /** Addresses of ledger nodes, chosen by you and not by the service: which sessions are paid is read there. */
  readonly rpc: string | ReadonlyArray<string>;
  /** The merchant's wallet, which is paid. Its key is not needed. */
  readonly merchant: string;
  /**
   * Signs what was delivered. Its key is the attestor that sessions must name. For an attestor that keeps what it signed
   * (`remoteAttestor`, `keepingAttestor`) each delivery is kept in the store before it is attested.
   */
  readonly attestor: SellerKey | SessionAttestor;
  /**
   * Pays the fees of captures and releases. Where it is the merchant's own wallet, a session of which nothing was used is
   * cancelled, so that its agent needs no transaction for it.
   */
  readonly payer: SellerKey;
  /** Where sessions are kept. Processes behind one address share it. */
  readonly store: SessionStore;
  /** The mint of the prices, of the trust document; it may be left out when that lists one. */
  readonly mint?: string;
  /** Behind a proxy: scheme, host and port that agents ask for, such as `https://api.example.com`. */
  readonly origin?: string;
  /** The longest body of a request, bytes; 16 MiB when left out. */
  readonly mostBodyBytes?: number;
  /** Told of captures and releases that failed and will be tried again, and of nodes that give no answer. */
  readonly onProblem?: (problem: SettlementError, escrow: string | null) => void;
  /** The most that a transaction may pay for priority, in lamports; 1,000,000 when left out. */
  readonly mostPriorityFee?: bigint;
  /** Used instead of the global `fetch`, for the service and the nodes. */
  readonly fetch?: Fetch;
  /** Used instead of the global `WebSocket`; null for none, and then sessions are looked at every 30 seconds. */
  readonly webSocket?: OpenSocket | null;
  /** Used instead of the machine's clock. */
  readonly clock?: ClientClock;
};

/**
 * Answers a paid request. What it throws, and an answer of 400 or above, is not charged. A stream of events
 * (`text/event-stream`) leaves as it comes, and ends with an event that carries the receipt.
 */
export type PaidHandler = (request: Request, call: PaidCall) => Response | Promise<Response>;

/** What a seller goes by, for adapters of other protocols. */
export type SellerTerms = {
  readonly policy: TrustPolicy;
  /** The mint of the prices. */
  readonly mint: SupportedMint;
  /** What it asks for one call of at most `price` base units, as x402 says it. */
  readonly requirements: (price: bigint) => ReturnType<typeof callRequirements>;
};

/** A seller's side of sessions. */
export type SessionSeller = {
  readonly terms: SellerTerms;
  /**
   * The answer to a request that is sold for at most `price`, a decimal such as "0.01": the handler's with a receipt,
   * an offer (402) to a request without a voucher, or a refusal. HEAD and OPTIONS are free of calls, and the handler
   * does not run for them. Rejects with what the handler throws; then nothing was charged.
   */
  readonly handle: (request: Request, price: string, handler: PaidHandler) => Promise<Response>;
  /**
   * What sessions owe and was not captured, which `rotate` and `cancel` of a merchant's client put into their own
   * transaction. @throws SettlementError `node_unusable`
   */
  readonly pendingCaptures: () => Promise<ReadonlyArray<PendingCapture>>;
  /** Captures whatever is owed, as before a change of the attestor's key. @throws SettlementError for what failed */
  readonly captureAll: () => Promise<void>;
  /**
   * What a watchtower needs (`settlement-evidence watchtower`), lines of JSON without anything secret: the newest record
   * of each session that is not ended. Keep it where the watchtower reads it, and write it anew as calls come.
   */
  readonly heads: () => Promise<string>;
  /**
   * Captures whatever is owed and ends what goes on in the background, as at SIGTERM. Stop taking requests before it.
   * @throws SettlementError for a capture that failed
   */
  readonly close: () => Promise<void>;
};

/** How often sessions are looked at, in milliseconds. */
const ROUND_MS = 30_000;
const MOST_BODY_BYTES = 16_777_216;

const originIn = (text: string): string => {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return new URL(text).origin;
  throw new SettlementError(
    "invalid_origin",
    `${text} is no http or https origin.`,
    "Give what agents ask for, such as https://api.example.com.",
  );
};

/** The request's address as agents write it. */
const askedUrl = (request: Request, origin: string | null): string => {
  const { origin: own, href } = new URL(request.url);
  return origin === null ? href : origin + href.slice(own.length);
};

const browserSocket = (): OpenSocket | null =>
  typeof WebSocket === "undefined" ? null : (url) => new WebSocket(url);

/** The body of a request; null when it is too long. */
const bodyOf = async (request: Request, mostBytes: number): Promise<Uint8Array | null> => {
  if (request.body === null) return new Uint8Array();
  return boundedBytes(new Response(request.body), mostBytes).catch(() => null);
};

/**
 * A seller's side of sessions: it sells requests of any framework by their call, keeps receipts in `store`, and
 * captures what is owed. It looks at the sessions that are open at once, and every 30 seconds until `close`.
 * @throws SettlementError for a wrong option
 * @example
 * import { memorySessions, sessionSeller } from "settlement-evidence/sessions";
 *
 * const keys = { merchant: wallet.address, attestor, payer: wallet };
 * const seller = sessionSeller({ service, trust, rpc, store: memorySessions(), ...keys });
 * const quote = new Request("http://127.0.0.1/quotes");
 * const answer = await seller.handle(quote, "0.01", () => Response.json({ price: "1.50" }));
 * answer.status; // => 402
 * await seller.close();
 */
export const sessionSeller = (options: SellerOptions): SessionSeller => {
  const { mostPriorityFee, clock = systemClock, fetch } = options;
  const payer = messageSignerOf(options.payer);
  const signing =
    "attest" in options.attestor ? options.attestor : messageSignerOf(options.attestor);
  const { mostBodyBytes = MOST_BODY_BYTES, onProblem = () => undefined } = options;
  const policy = policyIn(options.trust);
  const mint = mintOf(policy, options.mint);
  const taken = {
    merchant: addressNamed(options.merchant, "merchant"),
    attestor: attestorKey(signing.publicKey),
    mint: mint.address,
  };
  addressNamed(payer.publicKey, "payer");
  const origin = options.origin === undefined ? null : originIn(options.origin);
  const requests = requestsTo(options.service, fetch, clock);
  const nodes = ledgerNodes(options.rpc, (url) => requestsTo(url, fetch, clock));
  const [firstNode = ""] = typeof options.rpc === "string" ? [options.rpc] : options.rpc;
  const { webSocket = browserSocket() } = options;
  const lookAt = ledgerLooks(nodes, policy, taken, clock);
  const view = ledgerView({
    policy,
    taken,
    lookAt,
    clock,
    news:
      webSocket && ((changed) => accountNews(socketUrlOf(firstNode), changed, clock, webSocket)),
  });
  const guarded = guardedStore(options.store);
  const { deliveriesSeen, nowMs } = view;
  const store = noticingStore(guarded, { deliveriesSeen, nowMs, onProblem });
  const attestor =
    "attest" in signing ? noticingAttestor(signing, guarded, { nowMs, onProblem }) : signing;
  // Attestations carry the ledger's time: what the machine's clock says may be minutes off.
  const ledgerClock: ClientClock = { nowMs: view.nowMs, pause: clock.pause };
  const settling = captures({
    requests,
    policy,
    mostPriorityFee,
    payer,
    store,
    view,
    clock,
    attestFinal: (stored) => attestedFinal({ attestor, clock: ledgerClock }, stored),
    worth: 10n ** BigInt(mint.decimals),
    onProblem,
  });
  const context: SellerContext = {
    store,
    view,
    attestor,
    canCancel: payer.publicKey === taken.merchant,
    clock: ledgerClock,
    onClosed: settling.closed,
    onCall: settling.called,
    onBroken: (escrow, cause) =>
      onProblem(
        cause instanceof SettlementError
          ? cause
          : new SettlementError(
              "stream_broken",
              `A stream broke: ${cause instanceof Error ? cause.message : "unknown"}.`,
              "What left the seller is attested when the session is asked for next.",
              { cause },
            ),
        escrow,
      ),
  };

  const beginning = storeBeginning(guarded, lookAt);
  const closing = new AbortController();
  const rounds = (async () => {
    while (!closing.signal.aborted) {
      const round = beginning.again().then(() => settling.round());
      await round.catch((cause: unknown) => {
        if (!(cause instanceof SettlementError)) throw cause;
        onProblem(cause, null);
      });
      await clock.pause(ROUND_MS, closing.signal).catch(() => undefined);
    }
  })();

  const answer = async (
    request: Request,
    price: bigint,
    handler: PaidHandler,
  ): Promise<Response> => {
    const url = askedUrl(request, origin);
    if (request.method === "OPTIONS") return new Response(null, { status: 204 });
    const offer = () => offerAnswer({ taken, policy, url, price });
    if (request.method === "HEAD") return new Response(null, offer());
    const body = await bodyOf(request, mostBodyBytes);
    if (body === null)
      return refusalAnswer({
        code: "body_too_long",
        detail: `The body has more than ${mostBodyBytes} bytes.`,
      });
    const { method, headers } = request;
    const asked = { method, url, headers, body, price };
    // By an offer too: the session that is opened by it would be older than the store.
    const detail = await beginning.unbegun();
    if (detail !== null) return refusalAnswer({ code: "ledger_out_of_reach", detail });
    const paid = await answerCall(context, asked, async (call) => {
      if (request.body === null && url === request.url)
        return answerOf(await handler(request, call));
      const sent = { method, headers, ...(body.length === 0 ? {} : { body: body.slice() }) };
      return answerOf(await handler(new Request(url, sent), call));
    });
    return paid ?? offer();
  };

  return {
    terms: { policy, mint, requirements: (price) => callRequirements({ taken, policy }, price) },
    handle: async (request, price, handler) => {
      const units = unitsOf(price, mint.decimals);
      try {
        return await answer(request, units, handler);
      } catch (cause) {
        if (cause instanceof AttestorUnusable) {
          onProblem(cause, null);
          return refusalAnswer({ code: "attestor_unusable", detail: "The attestor failed." });
        }
        if (!(cause instanceof StoreUnusable)) throw cause;
        return refusalAnswer({ code: "store_unusable", detail: "The seller's store failed." });
      }
    },
    pendingCaptures: settling.pending,
    captureAll: settling.captureAll,
    heads: () => sessionHeads(store),
    close: async () => {
      closing.abort();
      await rounds;
      try {
        await settling.captureAll();
      } finally {
        view.close();
      }
    },
  };
};

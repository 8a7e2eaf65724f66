import type { Json } from "../../../core/domain/encoding/canonical-json.ts";
import { formatUnixTime } from "../../../core/domain/unix-time.ts";
import { callPayload } from "../../../core/protocol/calls/call-delivery.ts";
import { parseHash32 } from "../../../core/domain/hash32.ts";
import { verifyEvidence } from "../../../core/protocol/verification/verify-evidence.ts";
import { packetOnceFinal, requireSound } from "../../pay/packet-there.ts";
import { unitsOf } from "../../pay/payment-terms.ts";
import { type Fetch, runtimeFetch } from "../../service/fetch-directly.ts";
import { SettlementError } from "../../settlement-error.ts";
import type { AcceptedSigner } from "../../signing/sign-transaction.ts";
import { callEvidences } from "../evidence/call-evidences.ts";
import type { KeptCall } from "../store/session-store.ts";
import type { AgentContext, SessionRequest } from "./send-call.ts";
import type { CallAnswer } from "./take-answer.ts";
import { callOnce } from "./call-session.ts";
import { type EndedSession, endSession } from "./end-session.ts";
import { answerSink } from "./take-stream.ts";
import { openSession, type OpenContext, type SessionPlan } from "./open-session.ts";
import type { SessionJournal, StoppedSession } from "./session-journal.ts";

/** How a session is opened, or gone on with. */
export type SessionOptions = (
  | SessionPlan
  | {
      /** Without a merchant the session of the journal goes on. */
      readonly merchant?: never;
    }
) & {
  /** The agent's wallet, which pays the budget. It signs no calls. */
  readonly signer: AcceptedSigner;
  /** Where the session is kept: its key, its newest call, and each call's receipt. One journal is one session. */
  readonly journal: SessionJournal;
  /** Used for calls in place of the global `fetch`. */
  readonly fetch?: Fetch;
  readonly signal?: AbortSignal;
};

/** A paid answer. */
export type PaidAnswer = {
  /** As the seller sent it. */
  readonly response: Response;
  /** Which call of the session it was; null for an answer of 400 or above, which costs nothing. */
  readonly count: number | null;
  /** Base units, decimal. */
  readonly price: string;
};

/** Where a session stands by the receipts that its agent has. Amounts are base units, decimal. */
export type SessionStanding = {
  readonly escrow: string;
  readonly merchant: string;
  readonly mint: string;
  readonly budget: string;
  readonly used: string;
  readonly left: string;
  readonly calls: number;
  /** RFC 3339. */
  readonly expiresAt: string;
  /** Whether it takes no call any more, because this side closed it. */
  readonly isClosed: boolean;
  /** Why it is over, with what the seller signed; null unless the seller broke the rules. */
  readonly stopped: StoppedSession | null;
};

/** What of a call its evidence shows. */
export type ShownOfCall = {
  /** The answer's body, by which the payload is shown too; its hash alone when left out. */
  readonly body?: Uint8Array;
  /** False shows only the hash of what was ordered. */
  readonly isOrderShown?: boolean;
};

/** An agent's session: many calls to one merchant out of one escrow. */
export type Session = {
  readonly escrow: string;
  /**
   * Makes a call as `fetch` does, at most at `limit`, decimal, and takes its receipt. The same call after a failure is
   * not paid twice. One at a time: another waits. No redirect is followed. @throws SettlementError
   */
  readonly call: (
    request: string | URL | Request,
    how: RequestInit & {
      readonly limit: string;
      /**
       * Told of a stream of events (`text/event-stream`) as soon as it begins, with an answer whose body comes as it is
       * sent, and fails with `stream_cut` or what is wrong with the receipt. The call itself resolves at the end.
       */
      readonly onStream?: (answer: Response) => void;
    },
  ) => Promise<PaidAnswer>;
  /**
   * Ends the session with its seller, or else on the ledger, and says what it cost. Waits at most some minutes. Safe to
   * run again. `url` is one that the seller sells; the newest call's when left out. The seller has `settledWithinMs`
   * milliseconds, 60,000 when left out, before the agent's wallet closes the session. @throws SettlementError
   */
  readonly close: (how?: {
    readonly url?: string;
    readonly settledWithinMs?: number;
    readonly signal?: AbortSignal;
  }) => Promise<EndedSession>;
  /** The evidence of the call of this number, from 1 on, for `verify`. @throws SettlementError */
  readonly evidence: (count: number, shown?: ShownOfCall) => Promise<string>;
  readonly state: () => Promise<SessionStanding>;
};

/** Looks at a session that its seller does not see yet, because its nodes are behind, and the pause between them. */
const UNKNOWN_TRIES = 30;
const UNKNOWN_PAUSE_MS = 1_000;
/** The statuses whose answers have no body (WHATWG Fetch, "null body status"). */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

const responseOf = ({ status, headers, body }: CallAnswer): Response =>
  new Response(WITHOUT_BODY.has(status) ? null : new Uint8Array(body), { status, headers });

/** A request as a call needs it, its body read to the end. */
const requestFrom = async (
  input: string | URL | Request,
  init: RequestInit = {},
): Promise<Omit<SessionRequest, "limit">> => {
  const request = new Request(input, init);
  const body = new Uint8Array(await request.arrayBuffer());
  return {
    method: request.method,
    url: request.url,
    headers: Object.fromEntries(request.headers),
    ...(body.length === 0 ? {} : { body }),
    signal: request.signal,
  };
};

/** The URL of the newest call whose words are kept. */
const newestUrl = async ({ journal }: AgentContext): Promise<string | null> => {
  const { head, pending } = await journal.state();
  let intent = pending?.intent ?? null;
  if (intent === null)
    for await (const call of journal.calls(head?.voucher.count ?? 1)) intent = call.intent;
  return intent?.split(" ")[1] ?? null;
};

/** The calls of a session, its receipts, and one's evidence. */
const evidenceOf = async (
  { requests, policy }: OpenContext,
  { session, network, journal }: AgentContext,
  count: number,
  { body, isOrderShown = true }: ShownOfCall,
): Promise<string> => {
  const { text, packet } = await packetOnceFinal(requests, session.escrow, undefined);
  requireSound(verifyEvidence(text, policy));
  const calls: Array<KeptCall> = [];
  for await (const call of journal.calls(1)) calls.push(call);
  const { escrow, delivery_claim: claim } = packet.data;
  const made = callEvidences(
    JSON.parse(text) as Json,
    {
      deliveries: escrow.deliveries ?? 0,
      proofHash: claim.proof_hash === null ? null : (parseHash32(claim.proof_hash) ?? null),
    },
    calls,
  );
  const call = calls[count - 1];
  const payload =
    body === undefined || call === undefined
      ? null
      : callPayload({
          taskHash: call.receipt.delivery.taskHash,
          network,
          url: call.intent.split(" ")[1] ?? "",
          status: call.status,
          body,
          deliveredAt: call.receipt.delivery.deliveredAt,
        });
  return made(count, { payload, isOrderShown });
};

/** Opens a session, or goes on with the one of the journal. @throws SettlementError */
export const agentSession = async (
  context: OpenContext,
  options: SessionOptions,
): Promise<Session> => {
  const { signer, journal, fetch: fetchWith, signal: opening } = options;
  const plan = options.merchant === undefined ? null : options;
  const {
    session,
    escrow,
    signer: key,
    decimals,
    origin,
  } = await openSession(context, journal, plan, {
    signer,
    signal: opening,
  });
  const { clock } = context.requests;
  const agent: AgentContext = {
    session,
    network: context.policy.genesisHash,
    signer: key,
    journal,
    fetch: fetchWith ?? runtimeFetch,
    clock,
  };
  let last: Promise<unknown> = Promise.resolve();
  /** Does one thing at a time. */
  const inTurn = <A>(work: () => Promise<A>): Promise<A> => {
    const mine = last.then(work);
    last = mine.catch(() => undefined);
    return mine;
  };
  const seenCall = async (request: SessionRequest): Promise<CallAnswer> => {
    for (let tries = 1; ; tries++)
      try {
        request.signal?.throwIfAborted();
        return await callOnce(agent, request);
      } catch (cause) {
        const isUnseen = cause instanceof SettlementError && cause.code === "session_unknown";
        const { head } = await journal.state();
        if (!isUnseen || head !== null || tries >= UNKNOWN_TRIES) throw cause;
        await clock.pause(UNKNOWN_PAUSE_MS, request.signal);
      }
  };
  const end = (
    url: string | null,
    ending?: AbortSignal,
    settledWithinMs?: number,
  ): Promise<EndedSession> =>
    endSession(context, agent, { signer, url, settledWithinMs, signal: ending });
  /** The same; a session whose seller was restored is closed on the ledger at once, where it is paid until then. */
  const madeCall = async (request: SessionRequest): Promise<CallAnswer> => {
    try {
      return await seenCall(request);
    } catch (cause) {
      if (cause instanceof SettlementError && cause.code === "session_restored")
        // What fails here is tried again by `close`, which says why.
        await end(request.url, request.signal).catch(() => undefined);
      throw cause;
    }
  };
  return {
    escrow: session.escrow,
    call: async (request, { limit, onStream, ...init }) => {
      const units = unitsOf(limit, decimals);
      const sink = onStream && answerSink(onStream);
      const asked = { ...(await requestFrom(request, init)), limit: units, ...(sink && { sink }) };
      if (origin !== null && new URL(asked.url).origin !== origin)
        throw new SettlementError(
          "another_origin",
          `The session is for calls to ${origin}.`,
          "Nothing was sent. Open another session for another origin.",
        );
      try {
        const answer = await inTurn(() => madeCall(asked));
        sink?.end();
        const { count, price } = answer;
        return { response: responseOf(answer), count, price: price.toString() };
      } catch (cause) {
        sink?.fail(cause);
        throw cause;
      }
    },
    close: ({ url, signal, settledWithinMs } = {}) =>
      inTurn(async () => end(url ?? (await newestUrl(agent)), signal, settledWithinMs)),
    evidence: (count, shown = {}) => evidenceOf(context, agent, count, shown),
    state: async () => {
      const { head, closing, stopped } = await journal.state();
      const used = head?.receipt.delivery.totalAfter ?? 0n;
      return {
        escrow: session.escrow,
        merchant: escrow.merchant,
        mint: escrow.mint,
        budget: session.amount.toString(),
        used: used.toString(),
        left: (session.amount - used).toString(),
        calls: head?.voucher.count ?? 0,
        expiresAt: formatUnixTime(escrow.expiresAt),
        isClosed: closing !== null,
        stopped,
      };
    },
  };
};

import { parseAddress } from "../../core/domain/address.ts";
import { decodeBase64, encodeBase64 } from "../../core/domain/encoding/base64.ts";
import { readInstruction } from "../../core/protocol/instructions/program-call.ts";
import {
  decodeWireTransaction,
  openedInstructions,
} from "../../core/protocol/transaction/wire-transaction.ts";
import { connect, type ConnectOptions } from "../connect.ts";
import { expectedLock } from "../pay/locking-transaction.ts";
import { deploymentIn } from "../pay/payment-terms.ts";
import { policyIn } from "../pinned-policy.ts";
import { fetchDirectly, runtimeFetch } from "../service/fetch-directly.ts";
import { systemClock } from "../service/requests.ts";
import type { Session } from "../sessions/agent/session.ts";
import type {
  AgentState,
  SessionFolder,
  SessionJournal,
  SessionOpening,
} from "../sessions/agent/session-journal.ts";
import { openedTerms, plannedSession, type SessionPlan } from "../sessions/agent/open-session.ts";
import { type SessionOffer, sessionOffer } from "../sessions/agent/session-offer.ts";
import { SettlementError } from "../settlement-error.ts";
import { absentSigner } from "../signing/absent-signer.ts";
import { type LookedAt, rowOf, type SessionRow } from "./session-row.ts";

/** What the sessions of a model are made from. */
export type AgentSessionsOptions = Omit<ConnectOptions, "spend"> & {
  /** The address of the service. */
  readonly service: string;
  readonly folder: SessionFolder;
};

/**
 * The sessions of a model's tools. Their keys are made here, kept in a folder, and never shown. The wallet that pays the
 * budget is another program. A session begins after its person agreed to the budget, so every session that is kept has
 * been agreed to.
 */
export type AgentSessions = {
  readonly policy: ReturnType<typeof policyIn>;
  /** What a seller asks for a call of a URL, null where it offers no session. */
  readonly offer: (url: string, signal: AbortSignal) => Promise<SessionOffer | null>;
  /** A session on the same terms that was agreed to and is not seen on the ledger yet; null without one. */
  readonly begun: (plan: SessionPlan, agent: string) => Promise<string | null>;
  /** Makes the key of a session that the person agreed to, and keeps it. The escrow that it will have. */
  readonly begin: (plan: SessionPlan, agent: string) => Promise<string>;
  /**
   * Goes on with a session, once its escrow is final. @throws SettlementError `session_not_found`, `not_final_yet`, and
   * `WalletMustSign` before its escrow is paid
   */
  readonly open: (session: string, signal: AbortSignal) => Promise<Session>;
  /** Whether a signed transaction pays the budget of a kept session and does nothing else. */
  readonly isAgreed: (transaction: string) => Promise<boolean>;
  readonly all: () => Promise<ReadonlyArray<SessionRow>>;
};

/** How long one call waits for an escrow to be final. Clients give a tool a minute. */
const FINAL_WITHIN_MS = 45_000;

const TERMS = [
  "network",
  "agent",
  "merchant",
  "mint",
  "budget",
  "ttl",
  "attestor",
  "origin",
] as const;

/** Whether two openings are on the same terms; keys and nonces differ. */
const isSame = (one: SessionOpening, other: SessionOpening): boolean =>
  TERMS.every((name) => one[name] === other[name]);

/** The same transaction without its signatures. */
const unsignedOf = (transaction: Uint8Array): Uint8Array => {
  const bytes = Uint8Array.from(transaction);
  return bytes.fill(0, 1, 1 + 64 * (bytes[0] ?? 0));
};

const notFinal = (session: string): SettlementError =>
  new SettlementError(
    "not_final_yet",
    `No final escrow of ${session} was seen in time.`,
    "Make the same call again: nothing is paid twice.",
  );

/** The sessions in a folder, as a model's tools use them. @throws SettlementError for a wrong option */
export const agentSessions = (options: AgentSessionsOptions): AgentSessions => {
  const { service, folder, clock = systemClock, fetch: fetchWith = runtimeFetch } = options;
  const policy = policyIn(options.trust);
  const client = connect(service, options);
  const held = new Map<string, SessionJournal>();
  const open = new Map<string, Session>();
  const turns = new Map<string, Promise<unknown>>();

  /** Does one thing at a time with a session's file. */
  const inTurn = <A>(name: string, work: () => Promise<A>): Promise<A> => {
    const mine = (turns.get(name) ?? Promise.resolve()).then(work);
    turns.set(
      name,
      mine.catch(() => undefined),
    );
    return mine;
  };

  /** Looks at a session, which other processes can use again afterwards unless this one uses it. */
  const stateOf = (name: string): Promise<AgentState> =>
    inTurn(name, async () => {
      const mine = held.get(name);
      if (mine !== undefined) return mine.state();
      const journal = await folder.take(name);
      try {
        return await journal.state();
      } finally {
        await journal.release();
      }
    });

  /** The files that are named for an escrow. Others are of other programs. */
  const names = async (): Promise<ReadonlyArray<string>> =>
    (await folder.names()).filter((name) => parseAddress(name) !== undefined);

  const lookedAt = async (name: string): Promise<LookedAt> => {
    try {
      return await stateOf(name);
    } catch (cause) {
      if (!(cause instanceof SettlementError)) throw cause;
      return cause.code === "store_in_use" ? "in_use" : "unreadable";
    }
  };

  const openingOf = async (name: string): Promise<SessionOpening | null> => {
    const looked = await lookedAt(name);
    return typeof looked === "string" ? null : looked.opening;
  };

  /** Calls `work` with a signal that ends after the longest wait. */
  const inTime = async <A>(
    session: string,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<A>,
  ): Promise<A> => {
    const late = new AbortController();
    const over = new AbortController();
    clock.pause(FINAL_WITHIN_MS, over.signal).then(
      () => late.abort(notFinal(session)),
      () => undefined,
    );
    try {
      return await work(AbortSignal.any([signal, late.signal]));
    } finally {
      over.abort();
    }
  };

  /** The session that a transaction pays for, with its terms; null for any other transaction. */
  const paidBy = async (transaction: Uint8Array) => {
    const decoded = decodeWireTransaction(transaction);
    if ("malformed" in decoded) return null;
    const calls = openedInstructions(decoded.value).map((each) =>
      readInstruction(each, deploymentIn(policy)),
    );
    const escrow = calls.find((call) => call?.name === "create_escrow")?.at("escrow");
    if (escrow === undefined || !(await names()).includes(escrow)) return null;
    const opening = await openingOf(escrow);
    return opening === null ? null : openedTerms(policy, opening).terms;
  };

  return {
    policy,
    offer: async (url, signal) => {
      const answer = await fetchDirectly(url, { signal }, fetchWith);
      await answer.body?.cancel();
      return sessionOffer(answer, policy);
    },
    begun: async (plan, agent) => {
      const { opening: asked } = plannedSession(policy, plan, agent);
      for (const name of await names()) {
        const opening = await openingOf(name);
        if (opening !== null && opening.account === null && isSame(opening, asked)) return name;
      }
      return null;
    },
    begin: async (plan, agent) => {
      const { opening, terms } = plannedSession(policy, plan, agent);
      const { escrow } = terms;
      await inTurn(escrow, async () => {
        const journal = await folder.take(escrow);
        await journal.open(opening);
        held.set(escrow, journal);
      });
      return escrow;
    },
    open: (session, signal) =>
      inTurn(session, async () => {
        const mine = open.get(session);
        if (mine !== undefined) return mine;
        if (!(await names()).includes(session))
          throw new SettlementError(
            "session_not_found",
            "No such session is kept here.",
            "Call find_sessions.",
          );
        const journal = held.get(session) ?? (await folder.take(session));
        held.set(session, journal);
        const { opening } = await journal.state();
        const opened = await inTime(session, signal, (ending) =>
          client.session({
            signer: absentSigner(opening?.agent ?? ""),
            journal,
            fetch: fetchWith,
            signal: ending,
          }),
        );
        open.set(session, opened);
        return opened;
      }),
    isAgreed: async (transaction) => {
      const bytes = decodeBase64(transaction);
      if (bytes === undefined) return false;
      try {
        const terms = await paidBy(bytes);
        if (terms === null) return false;
        expectedLock(encodeBase64(unsignedOf(bytes)), policy, terms, terms.agent);
        return true;
      } catch (cause) {
        // Then the person is asked.
        if (cause instanceof SettlementError) return false;
        throw cause;
      }
    },
    all: async () => {
      const rows: Array<SessionRow> = [];
      for (const name of await names()) rows.push(...rowOf(policy, name, await lookedAt(name)));
      return rows;
    },
  };
};

import { connect } from "../../connect.ts";
import type { Fetch } from "../../service/fetch-directly.ts";
import { systemClock } from "../../service/requests.ts";
import { SettlementError } from "../../settlement-error.ts";
import type { EndedSession } from "./end-session.ts";
import { type PayPolicy, refuseToPay, sessionSeconds } from "./pay-policy.ts";
import type { Session } from "./session.ts";
import type { SessionJournal } from "./session-journal.ts";
import type { SessionOffer } from "./session-offer.ts";

/** What became of one session at the end: its cost, or why it could not be closed. */
export type PaidSession = {
  readonly escrow: string;
  readonly ended: EndedSession | null;
  readonly failure: SettlementError | null;
};

type Lane = { readonly session: Session; readonly journal: SessionJournal };

/** The sessions out of which a policy's calls are paid: one for each origin, merchant, mint and attestor. */
export type PayingSessions = {
  /**
   * Does a piece of work with the session of an offer, which is opened where none goes on. Ended sessions, by
   * `isOver` of what the work failed with, are closed. @throws what the work throws
   */
  readonly use: <A>(
    offer: SessionOffer,
    origin: string,
    work: (session: Session) => Promise<A>,
    isOver: (cause: unknown) => boolean,
  ) => Promise<A>;
  /** Closes every session that is open, and says what became of each since it was asked last. */
  readonly close: () => Promise<ReadonlyArray<PaidSession>>;
};

const MOST_SESSIONS = 4;
/** Journals that are tried for one place: those before are of sessions that are over, or of other processes. */
const MOST_JOURNALS = 1_000;

/** The code of a failure of the client, empty for any other. */
export const codeOf = (cause: unknown): string =>
  cause instanceof SettlementError ? cause.code : "";

/** Whose calls one session pays for. */
const placeOf = (offer: SessionOffer, origin: string): string =>
  [origin, offer.merchant, offer.mint.address, offer.attestor].join(" ");

/** Seconds before its end from which a seller answers no call of a session. */
const marginOf = (ttl: number): number => Math.max(60, Math.min(900, ttl / 10));

/** The sessions of a policy, none of them open yet. */
export const payingSessions = (policy: PayPolicy, fetchWith: Fetch): PayingSessions => {
  const { signer, budget, maxSessions = MOST_SESSIONS, clock = systemClock } = policy;
  const ttl = sessionSeconds(policy);
  const client = connect(policy.service, policy);
  const lanes = new Map<string, Promise<Lane>>();
  const closings: Array<Promise<PaidSession>> = [];

  const close = async ({ session, journal }: Lane): Promise<PaidSession> => {
    const { escrow } = session;
    try {
      const ended = await session.close();
      return { escrow, ended, failure: null };
    } catch (cause) {
      if (cause instanceof SettlementError) return { escrow, ended: null, failure: cause };
      throw cause;
    } finally {
      await journal.release();
    }
  };

  /** Whether a session can pay for a call of this price now. */
  const isUsable = async (session: Session, price: bigint): Promise<boolean> => {
    const { left, expiresAt, isClosed, stopped } = await session.state();
    const seconds = (Date.parse(expiresAt) - clock.nowMs()) / 1000;
    return !isClosed && stopped === null && BigInt(left) >= price && seconds > marginOf(ttl);
  };

  /** The journal of a name, null where another process holds it. */
  const freeJournal = async (name: string): Promise<SessionJournal | null> => {
    try {
      return await policy.journal(name);
    } catch (cause) {
      if (codeOf(cause) === "store_in_use") return null;
      throw cause;
    }
  };

  /** The first journal of a place whose session goes on, or that has none yet. */
  const openedLane = async (
    { merchant, mint, attestor, price }: SessionOffer,
    origin: string,
  ): Promise<Lane> => {
    const host = origin.replace(/^https?:\/\//, "").replaceAll(/[^A-Za-z0-9.-]/g, "_");
    for (let number = 1; number <= MOST_JOURNALS; number++) {
      const journal = await freeJournal(`${host}-${merchant}-${number}`);
      if (journal === null) continue;
      try {
        const session = await client.session({
          merchant,
          budget,
          ttl,
          mint: mint.address,
          attestor,
          signer,
          journal,
          fetch: fetchWith,
        });
        if (await isUsable(session, price)) return { session, journal };
        await journal.release();
      } catch (cause) {
        await journal.release();
        if (codeOf(cause) !== "another_session") throw cause;
      }
    }
    return refuseToPay(
      "too_many_journals",
      `${host} has ${MOST_JOURNALS} journals.`,
      "Name others.",
    );
  };

  const laneFor = (offer: SessionOffer, origin: string): Promise<Lane> => {
    const place = placeOf(offer, origin);
    const open = lanes.get(place);
    if (open !== undefined) return open;
    if (lanes.size >= maxSessions)
      refuseToPay("too_many_sessions", `${maxSessions} sessions are open.`, "Raise maxSessions.");
    const opening = openedLane(offer, origin);
    lanes.set(place, opening);
    opening.catch(() => lanes.delete(place));
    return opening;
  };

  return {
    use: async (offer, origin, work, isOver) => {
      const opening = laneFor(offer, origin);
      const lane = await opening;
      try {
        return await work(lane.session);
      } catch (cause) {
        const place = placeOf(offer, origin);
        if (isOver(cause) && lanes.get(place) === opening) {
          lanes.delete(place);
          closings.push(close(lane));
        }
        throw cause;
      }
    },
    close: async () => {
      const open = await Promise.allSettled(lanes.values());
      lanes.clear();
      for (const each of open) if (each.status === "fulfilled") closings.push(close(each.value));
      return Promise.all(closings.splice(0));
    },
  };
};

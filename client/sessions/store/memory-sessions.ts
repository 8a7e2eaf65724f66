import type { Address } from "../../../core/domain/address.ts";
import type { UnixSeconds } from "../../../core/domain/unix-time.ts";
import { type SessionHead, tallyOf } from "../../../core/protocol/calls/session-head.ts";
import { NO_CALLS } from "../../../core/protocol/calls/session-tally.ts";
import { SettlementError } from "../../settlement-error.ts";
import type {
  KeptCall,
  KeptSession,
  SentAnswer,
  StagedCall,
  SessionStore,
  StoredSession,
} from "./session-store.ts";

type Held = {
  session: KeptSession;
  newest: SessionHead | null;
  closing: StoredSession["closing"];
  final: StoredSession["final"];
  answer: SentAnswer | null;
  staged: StagedCall | null;
  /** Who holds the reservation. */
  holder: symbol | null;
  isEnded: boolean;
  readonly calls: Array<KeptCall>;
};

const countOf = ({ newest }: Held): number => newest?.voucher.count ?? 0;

const isNext = (held: Held, count: number): boolean =>
  held.closing === null && countOf(held) === count - 1;

/** The sessions of one place, which several processes may share: each makes its own store of it. */
export class SharedSessions {
  readonly held = new Map<Address, Held>();
  /** Sessions of before may have calls that are not here. */
  readonly bornAt: UnixSeconds;

  constructor(bornAt: UnixSeconds = 0n) {
    this.bornAt = bornAt;
  }
}

/**
 * A store that ends with the process. Stores that share `place` act as processes that share a disk; `crash` is what
 * the end of one of them does to its reservations.
 * @example
 * import { memorySessions } from "settlement-evidence/sessions";
 *
 * const store = memorySessions();
 * await store.unfinished(); // => []
 */
export const memorySessions = (
  place: SharedSessions = new SharedSessions(),
): SessionStore & { readonly crash: () => void } => {
  const me = Symbol("this process");
  const heldOf = (escrow: Address): Held => {
    const held = place.held.get(escrow);
    if (held !== undefined) return held;
    throw new SettlementError(
      "session_unknown",
      `No session of ${escrow} is kept here.`,
      "Open it before its first call.",
    );
  };
  return {
    open: (session) => {
      if (!place.held.has(session.escrow))
        place.held.set(session.escrow, {
          session,
          newest: null,
          closing: null,
          final: null,
          answer: null,
          staged: null,
          holder: null,
          isEnded: false,
          calls: [],
        });
      return Promise.resolve();
    },
    find: (escrow) => {
      const held = place.held.get(escrow);
      if (held === undefined) return Promise.resolve(null);
      const { session, newest, closing, final, staged } = held;
      const isRestored = session.createdAt < place.bornAt;
      return Promise.resolve({ session, newest, closing, final, isRestored, staged });
    },
    unfinished: () =>
      Promise.resolve(
        Array.from(place.held.values())
          .filter(({ isEnded }) => !isEnded)
          .map(({ session }) => session),
      ),
    reserve: (escrow, count) => {
      const held = heldOf(escrow);
      if (held.holder !== null) return Promise.resolve("busy");
      if (!isNext(held, count)) return Promise.resolve("behind");
      held.holder = me;
      return Promise.resolve("reserved");
    },
    drop: (escrow) => {
      const held = heldOf(escrow);
      if (held.holder === me) held.holder = null;
      return Promise.resolve();
    },
    stage: (call) => {
      const held = heldOf(call.voucher.escrow);
      if (held.holder !== me || !isNext(held, call.voucher.count)) return Promise.resolve(false);
      held.staged = call;
      return Promise.resolve(true);
    },
    append: (call, answer) => {
      const held = heldOf(call.voucher.escrow);
      if (held.holder !== me || !isNext(held, call.voucher.count)) return Promise.resolve(false);
      const { voucher, receipt } = call;
      const before = held.newest === null ? NO_CALLS : tallyOf(held.newest);
      held.newest = { voucher, receipt, before };
      held.answer = answer;
      held.staged = null;
      held.holder = null;
      held.calls.push(call);
      return Promise.resolve(true);
    },
    answer: (escrow, count) => {
      const held = heldOf(escrow);
      return Promise.resolve(countOf(held) === count ? held.answer : null);
    },
    adopt: (head) => {
      const held = heldOf(head.voucher.escrow);
      if (held.holder !== null || held.closing !== null || countOf(held) >= head.voucher.count)
        return Promise.resolve(false);
      held.newest = head;
      held.answer = null;
      held.staged = null;
      return Promise.resolve(true);
    },
    close: (voucher) => {
      const held = heldOf(voucher.escrow);
      if (held.closing !== null) return Promise.resolve(held.closing.count === voucher.count);
      if (held.holder !== null || countOf(held) !== voucher.count) return Promise.resolve(false);
      held.closing = voucher;
      return Promise.resolve(true);
    },
    finish: (escrow, final) => {
      const held = heldOf(escrow);
      if (held.final === null || held.final.timestamp < final.timestamp) held.final = final;
      return Promise.resolve();
    },
    end: (escrow) => {
      heldOf(escrow).isEnded = true;
      return Promise.resolve();
    },
    calls: async function* (escrow, from) {
      for (const call of heldOf(escrow).calls) if (call.voucher.count >= from) yield call;
    },
    crash: () => {
      for (const held of place.held.values()) if (held.holder === me) held.holder = null;
    },
  };
};

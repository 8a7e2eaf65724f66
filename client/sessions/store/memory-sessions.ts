import type { Address } from "../../../core/domain/address.ts";
import type { UnixSeconds } from "../../../core/domain/unix-time.ts";
import {
  closes,
  countOf,
  isLater,
  isNewer,
  isNext,
  newSession,
  type SessionState,
  sessionUnknown,
  withCall,
  withShown,
} from "./session-state.ts";
import { type KeptCall, NOT_BEGUN, type SessionStore } from "./session-store.ts";

type Held = {
  state: SessionState;
  /** Who holds the reservation. */
  holder: symbol | null;
  readonly calls: Array<KeptCall>;
};

/** The sessions of one place, which several processes may share: each makes its own store of it. */
export class SharedSessions {
  readonly held = new Map<Address, Held>();
  /** Sessions of before may have calls that are not here. Seconds of the ledger, 0 where there were none. */
  bornAt: UnixSeconds;

  constructor(bornAt: UnixSeconds = 0n) {
    this.bornAt = bornAt;
  }
}

/**
 * A store that ends with the process: a seller takes no call by it of a session that is older. Stores that share
 * `place` act as processes that share a disk; `crash` is what the end of one of them does to its reservations.
 * @example
 * import { memorySessions } from "settlement-evidence/sessions";
 *
 * const store = memorySessions();
 * await store.unfinished(); // => []
 */
export const memorySessions = (
  place = new SharedSessions(NOT_BEGUN),
): SessionStore & { readonly crash: () => void } => {
  const me = Symbol("this process");
  const heldOf = (escrow: Address): Held => {
    const held = place.held.get(escrow);
    if (held === undefined) throw sessionUnknown(escrow);
    return held;
  };
  return {
    begin: async (finalizedTime) => {
      if (place.bornAt === NOT_BEGUN) place.bornAt = await finalizedTime();
    },
    open: async (session) => {
      if (!place.held.has(session.escrow))
        place.held.set(session.escrow, {
          state: newSession(session),
          holder: null,
          calls: [],
        });
    },
    find: async (escrow) => {
      const held = place.held.get(escrow);
      if (held === undefined) return null;
      const { session, newest, closing, final, staged } = held.state;
      const isRestored = session.createdAt < place.bornAt;
      return { session, newest, closing, final, staged, isRestored };
    },
    unfinished: async () =>
      Array.from(place.held.values())
        .filter(({ state }) => !state.isEnded)
        .map(({ state }) => state.session),
    reserve: async (escrow, count) => {
      const held = heldOf(escrow);
      if (held.holder !== null) return "busy";
      if (!isNext(held.state, count)) return "behind";
      held.holder = me;
      return held.state.staged === null ? "reserved" : "staged";
    },
    drop: async (escrow) => {
      const held = heldOf(escrow);
      if (held.holder === me) held.holder = null;
    },
    stage: async (staged) => {
      const held = heldOf(staged.voucher.escrow);
      if (held.holder !== me || !isNext(held.state, staged.voucher.count)) return false;
      held.state = { ...held.state, staged };
      return true;
    },
    append: async (call, answer) => {
      const held = heldOf(call.voucher.escrow);
      if (held.holder !== me || !isNext(held.state, call.voucher.count)) return false;
      held.state = withCall(held.state, call, answer);
      held.holder = null;
      held.calls.push(call);
      return true;
    },
    answer: async (escrow, count) => {
      const { state } = heldOf(escrow);
      return countOf(state) === count ? state.answer : null;
    },
    adopt: async (head) => {
      const held = heldOf(head.voucher.escrow);
      if (held.holder !== null || !isLater(held.state, head)) return false;
      held.state = withShown(held.state, head);
      return true;
    },
    close: async (voucher) => {
      const held = heldOf(voucher.escrow);
      const closed = closes(held.state, voucher);
      if (closed === "before") return true;
      if (held.holder !== null || closed === "refused") return false;
      held.state = { ...held.state, closing: voucher };
      return true;
    },
    finish: async (escrow, final) => {
      const held = heldOf(escrow);
      if (isNewer(held.state, final)) held.state = { ...held.state, final };
    },
    distrust: async (before) => {
      if (place.bornAt < before) place.bornAt = before;
    },
    end: async (escrow) => {
      const held = heldOf(escrow);
      held.state = { ...held.state, isEnded: true };
    },
    calls: async function* (escrow, from) {
      for (const call of heldOf(escrow).calls) if (call.voucher.count >= from) yield call;
    },
    crash: () => {
      for (const held of place.held.values()) if (held.holder === me) held.holder = null;
    },
  };
};

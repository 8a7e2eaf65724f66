import { tallyOf } from "../../../core/protocol/calls/session-head.ts";
import { NO_CALLS } from "../../../core/protocol/calls/session-tally.ts";
import type { KeptCall } from "../store/session-store.ts";
import { type AgentState, NOTHING_CALLED, type SessionJournal } from "./session-journal.ts";

/** A journal that ends with the process. */
export const memorySessionJournal = (): SessionJournal => {
  let state: AgentState = NOTHING_CALLED;
  const calls: Array<KeptCall> = [];
  const set = (changes: Partial<AgentState>): Promise<void> => {
    state = { ...state, ...changes };
    return Promise.resolve();
  };
  return {
    state: () => Promise.resolve(state),
    order: (pending) => set({ pending }),
    record: (call) => {
      const { voucher, receipt } = call;
      calls.push(call);
      const before = state.head === null ? NO_CALLS : tallyOf(state.head);
      return set({ head: { voucher, receipt, before }, pending: null });
    },
    adopt: (head) => set({ head, pending: null, closing: null }),
    close: (closing) => set({ closing, pending: null }),
    stop: (stopped) => set({ stopped }),
    calls: async function* (from) {
      for (const call of calls) if (call.voucher.count >= from) yield call;
    },
  };
};

import { tallyOf } from "../../../core/protocol/calls/session-head.ts";
import { NO_CALLS } from "../../../core/protocol/calls/session-tally.ts";
import type { KeptCall } from "../store/session-store.ts";
import {
  adopting,
  type AgentState,
  NOTHING_CALLED,
  type SessionJournal,
} from "./session-journal.ts";

/**
 * A session's journal that ends with the process: what is left of the budget then comes home with the time to live.
 * @example
 * import { memorySessionJournal } from "settlement-evidence";
 *
 * const journal = memorySessionJournal();
 * (await journal.state()).opening; // => null
 */
export const memorySessionJournal = (): SessionJournal => {
  let state: AgentState = NOTHING_CALLED;
  const calls: Array<KeptCall> = [];
  const set = (changes: Partial<AgentState>): Promise<void> => {
    state = { ...state, ...changes };
    return Promise.resolve();
  };
  return {
    state: () => Promise.resolve(state),
    open: (opening) => set({ opening }),
    order: (pending) => set({ pending }),
    record: (call) => {
      const { voucher, receipt } = call;
      calls.push(call);
      const before = state.head === null ? NO_CALLS : tallyOf(state.head);
      return set({ head: { voucher, receipt, before }, pending: null });
    },
    adopt: (head) => set(adopting(state, head)),
    close: (closing) => set({ closing, pending: null }),
    stop: (stopped) => set({ stopped }),
    release: () => Promise.resolve(),
    calls: async function* (from) {
      for (const call of calls) if (call.voucher.count >= from) yield call;
    },
  };
};

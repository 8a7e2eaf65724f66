import { expect } from "bun:test";
import fc from "fast-check";
import type { SessionStore } from "../../client/sessions/store/session-store.ts";
import {
  answerOf,
  closingOf,
  finalOf,
  headOf,
  keptCall,
  PLAN,
  SESSIONS,
  stagedCall,
} from "../doubles/kept-calls.ts";
import { KEPT } from "../doubles/session-sides.ts";

const { escrow: ESCROW } = KEPT;

/** A store that begins before every session of the suite. */
export const begun = async <S extends SessionStore>(opened: Promise<S>): Promise<S> => {
  const store = await opened;
  await store.begin(() => Promise.resolve(0n));
  return store;
};

/** All calls that a store keeps of a session. */
export const callsIn = (store: SessionStore, at = 0, from = 1) =>
  Array.fromAsync(store.calls((SESSIONS[at] ?? KEPT).escrow, from));

/** Makes calls of the first session from one number to another. */
export const call = async (store: SessionStore, from: number, to = from): Promise<void> => {
  for (let count = from; count <= to; count++) {
    expect(await store.reserve(ESCROW, count)).toBe("reserved");
    expect(await store.append(keptCall(count), answerOf(count))).toBe(true);
  }
};

/** Everything that a store says of its sessions. */
export const told = async (store: SessionStore) => ({
  unfinished: await store.unfinished(),
  sessions: await Promise.all(
    SESSIONS.map(async ({ escrow }, at) => {
      const found = await store.find(escrow);
      if (found === null) return null;
      const count = found.newest?.voucher.count ?? 0;
      return {
        session: found.session,
        newest: found.newest && { ...found.newest, before: found.newest.before.edges },
        closing: found.closing,
        final: found.final,
        staged: found.staged,
        answer: await store.answer(escrow, count),
        calls: await callsIn(store, at),
      };
    }),
  ),
});

/** One thing that a history does to a store. */
export type Step = { readonly what: string; readonly at: number; readonly count: number };

/** Any step. */
export const STEP: fc.Arbitrary<Step> = fc.record({
  what: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom("reserve", "append", "call", "call") },
    { weight: 1, arbitrary: fc.constantFrom("open", "drop", "adopt", "close", "finish", "end") },
    { weight: 1, arbitrary: fc.constantFrom("open", "append without answer", "crash") },
    { weight: 2, arbitrary: fc.constantFrom("stage", "reserve and stage") },
  ),
  at: fc.nat(SESSIONS.length - 1),
  count: fc.integer({ min: 1, max: PLAN.length }),
});

/** Takes a step on a store, and says what came of it. */
export const taken = async (store: SessionStore, { what, at, count }: Step): Promise<unknown> => {
  const session = SESSIONS[at] ?? KEPT;
  const { escrow } = session;
  if (what === "open") return store.open(session);
  if (what === "reserve") return store.reserve(escrow, count);
  if (what === "drop") return store.drop(escrow);
  if (what === "append") return store.append(keptCall(count, at), answerOf(count));
  if (what === "append without answer") return store.append(keptCall(count, at), null);
  if (what === "adopt") return store.adopt(headOf(count, at));
  if (what === "close") return store.close(closingOf(count, at));
  if (what === "stage") return store.stage(stagedCall(count, at));
  if (what === "finish") return store.finish(escrow, finalOf(count, BigInt(count), at));
  if (what === "end") return store.end(escrow);
  // A call of whatever number is next, so that histories are not mostly refusals.
  const next = ((await store.find(escrow))?.newest?.voucher.count ?? 0) + 1;
  if (next > PLAN.length) return "no more";
  if (what === "reserve and stage")
    return [await store.reserve(escrow, next), await store.stage(stagedCall(next, at))];
  return [
    await store.reserve(escrow, next),
    await store.append(keptCall(next, at), answerOf(next)),
  ];
};

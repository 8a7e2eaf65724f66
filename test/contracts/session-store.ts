import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { SettlementError } from "../../client/settlement-error.ts";
import { memorySessions, SharedSessions } from "../../client/sessions/store/memory-sessions.ts";
import type { KeptSession, SessionStore } from "../../client/sessions/store/session-store.ts";
import { runs } from "../arbitraries/runs.ts";
import {
  answerOf,
  closingOf,
  finalOf,
  headOf,
  keptCall,
  SESSIONS,
  stagedCall,
} from "../doubles/kept-calls.ts";
import { begun, call, callsIn, STEP, taken, told } from "./session-histories.ts";
import { KEPT } from "../doubles/session-sides.ts";

/** Where stores of one adapter keep the same sessions. */
export type StorePlace = {
  /** Another process opens its store. What is new has not begun. */
  readonly open: () => Promise<SessionStore>;
  /** The process of a store ends, and whatever it held is over. */
  readonly crash: (store: SessionStore) => Promise<void>;
  /** Ends every store, and removes all that they wrote. */
  readonly remove: () => Promise<void>;
};

/** What differs between adapters. */
export type StoreTraits = {
  /** Whether several processes may have stores of one place at a time. */
  readonly isShared: boolean;
  /** How many histories the comparison with the memory store tries. */
  readonly histories: number;
};

const { escrow: ESCROW } = KEPT;

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "none",
    (cause: unknown) => (cause instanceof SettlementError ? cause.code : String(cause)),
  );

/** What every store of sessions must do. `fresh` gives a place where nothing is kept yet. */
export const sessionStoreContract = (
  name: string,
  fresh: () => Promise<StorePlace>,
  { isShared, histories }: StoreTraits,
): void => {
  const withPlace = async (use: (place: StorePlace) => Promise<void>): Promise<void> => {
    const place = await fresh();
    try {
      await use({ ...place, open: () => begun(place.open()) });
    } finally {
      await place.remove();
    }
  };
  const withStore = (use: (store: SessionStore, place: StorePlace) => Promise<void>) =>
    withPlace(async (place) => {
      const store = await place.open();
      await store.open(KEPT);
      await use(store, place);
    });

  describe(`${name}: sessions`, () => {
    test("what was never opened is unknown", () =>
      withPlace(async (place) => {
        const store = await place.open();
        expect(await store.find(ESCROW)).toBeNull();
        expect(await store.unfinished()).toEqual([]);
        const works: ReadonlyArray<Promise<unknown>> = [
          store.reserve(ESCROW, 1),
          store.drop(ESCROW),
          store.stage(stagedCall(1)),
          store.append(keptCall(1), null),
          store.answer(ESCROW, 1),
          store.adopt(headOf(1)),
          store.close(closingOf(1)),
          store.finish(ESCROW, finalOf(1, 0n)),
          store.end(ESCROW),
          callsIn(store),
        ];
        for (const code of await Promise.all(works.map(codeOf)))
          expect(code).toBe("session_unknown");
      }));

    test("an opened one is found as it was given, and the same again changes nothing", () =>
      withStore(async (store) => {
        expect(await store.find(ESCROW)).toEqual({
          session: KEPT,
          newest: null,
          closing: null,
          final: null,
          staged: null,
          isRestored: false,
        });
        expect(await callsIn(store)).toEqual([]);
        await call(store, 1);
        await store.open(KEPT);
        expect((await store.find(ESCROW))?.newest?.voucher).toEqual(keptCall(1).voucher);
      }));

    test("the unfinished ones are listed as they were opened, until they end", () =>
      withStore(async (store) => {
        const [first, second, third] = SESSIONS as [KeptSession, KeptSession, KeptSession];
        await store.open(third);
        await store.open(second);
        expect(await store.unfinished()).toEqual([first, third, second]);
        await store.end(third.escrow);
        await store.end(third.escrow);
        expect(await store.unfinished()).toEqual([first, second]);
        expect((await store.find(third.escrow))?.session).toEqual(third);
      }));
  });

  describe(`${name}: calls`, () => {
    test("a reservation is one at a time, for the next call", () =>
      withStore(async (store) => {
        expect(await store.reserve(ESCROW, 2)).toBe("behind");
        expect(await store.reserve(ESCROW, 0)).toBe("behind");
        expect(await store.reserve(ESCROW, 1)).toBe("reserved");
        expect(await store.reserve(ESCROW, 1)).toBe("busy");
        await store.drop(ESCROW);
        await store.drop(ESCROW);
        expect(await store.reserve(ESCROW, 1)).toBe("reserved");
        await store.append(keptCall(1), null);
        expect(await store.reserve(ESCROW, 1)).toBe("behind");
        expect(await store.reserve(ESCROW, 2)).toBe("reserved");
      }));

    test("nothing is appended without a reservation, or out of turn", () =>
      withStore(async (store) => {
        expect(await store.append(keptCall(1), null)).toBe(false);
        await store.reserve(ESCROW, 1);
        expect(await store.append(keptCall(2), null)).toBe(false);
        expect(await store.append(keptCall(1), null)).toBe(true);
        expect(await store.append(keptCall(2), null)).toBe(false);
        expect(await callsIn(store)).toEqual([keptCall(1)]);
      }));

    test("the newest call is where the session stands, with all that is needed to go on", () =>
      withStore(async (store) => {
        await call(store, 1, 5);
        const { newest } = (await store.find(ESCROW)) ?? {};
        expect(newest?.voucher).toEqual(headOf(5).voucher);
        expect(newest?.receipt).toEqual(headOf(5).receipt);
        expect(newest?.before.edges).toEqual(headOf(5).before.edges);
        expect(newest?.before.total).toBe(headOf(5).before.total);
      }));

    test("an answer is given again until the next call, whole", () =>
      withStore(async (store) => {
        for (const count of [1, 2, 3]) {
          await call(store, count);
          expect(await store.answer(ESCROW, count)).toEqual(answerOf(count));
          expect(await store.answer(ESCROW, count - 1)).toBeNull();
          expect(await store.answer(ESCROW, count + 1)).toBeNull();
        }
        await store.reserve(ESCROW, 4);
        await store.append(keptCall(4), null);
        expect(await store.answer(ESCROW, 4)).toBeNull();
        await store.reserve(ESCROW, 5);
        const empty = { status: 204, headers: [], body: new Uint8Array() };
        await store.append(keptCall(5), empty);
        expect(await store.answer(ESCROW, 5)).toEqual(empty);
      }));

    test("calls are read from a number on, in order", () =>
      withStore(async (store) => {
        await call(store, 1, 6);
        expect(await callsIn(store)).toEqual([1, 2, 3, 4, 5, 6].map((count) => keptCall(count)));
        expect(await callsIn(store, 0, 5)).toEqual([keptCall(5), keptCall(6)]);
        expect(await callsIn(store, 0, 7)).toEqual([]);
      }));

    test("calls of many sessions at once are kept, each in its own", () =>
      withStore(async (store) => {
        for (const session of SESSIONS) await store.open(session);
        await Promise.all(
          SESSIONS.map(async ({ escrow }, at) => {
            for (let count = 1; count <= 6; count++) {
              expect(await store.reserve(escrow, count)).toBe("reserved");
              expect(await store.append(keptCall(count, at), answerOf(count))).toBe(true);
            }
          }),
        );
        for (const at of SESSIONS.keys())
          expect(await callsIn(store, at)).toEqual(
            [1, 2, 3, 4, 5, 6].map((count) => keptCall(count, at)),
          );
      }));

    test("of many wishes at once one is reserved, and of many appends one is kept", () =>
      withStore(async (store) => {
        const reservations = await Promise.all(
          Array.from({ length: 5 }, () => store.reserve(ESCROW, 1)),
        );
        expect(reservations.toSorted()).toEqual(["busy", "busy", "busy", "busy", "reserved"]);
        const appends = await Promise.all(
          Array.from({ length: 3 }, () => store.append(keptCall(1), null)),
        );
        expect(appends.filter(Boolean).length).toBe(1);
      }));
  });

  describe(`${name}: deliveries before their attestation`, () => {
    const stagedIn = async (store: SessionStore) => (await store.find(ESCROW))?.staged;

    test("are kept by who holds the reservation, the newest in place of one before", () =>
      withStore(async (store) => {
        expect(await store.stage(stagedCall(1))).toBe(false);
        await call(store, 1);
        expect(await store.reserve(ESCROW, 2)).toBe("reserved");
        expect(await store.stage(stagedCall(3))).toBe(false);
        expect(await stagedIn(store)).toBeNull();
        const shorter = { ...stagedCall(2), answer: null };
        for (const staged of [shorter, stagedCall(2)]) {
          expect(await store.stage(staged)).toBe(true);
          expect(await stagedIn(store)).toEqual(staged);
        }
        expect(await store.append(keptCall(2), answerOf(2))).toBe(true);
        expect(await stagedIn(store)).toBeNull();
        expect(await store.reserve(ESCROW, 3)).toBe("reserved");
      }));

    test("wait for the next process, which is told of them and cannot close over them", () =>
      withStore(async (first, place) => {
        await call(first, 1);
        await first.reserve(ESCROW, 2);
        await first.stage(stagedCall(2));
        await place.crash(first);
        const next = await place.open();
        expect(await stagedIn(next)).toEqual(stagedCall(2));
        expect(await next.close(closingOf(1))).toBe(false);
        for (const _ of ["dropped", "appended"]) {
          expect(await next.reserve(ESCROW, 2)).toBe("staged");
          await next.drop(ESCROW);
        }
        expect(await next.reserve(ESCROW, 2)).toBe("staged");
        expect(await next.append(keptCall(2), answerOf(2))).toBe(true);
        expect(await stagedIn(next)).toBeNull();
        await place.crash(next);
        const last = await place.open();
        expect(await stagedIn(last)).toBeNull();
        expect(await last.close(closingOf(2))).toBe(true);
      }));

    test("give way to a record that the agent showed", () =>
      withStore(async (store) => {
        await store.reserve(ESCROW, 1);
        await store.stage(stagedCall(1));
        await store.drop(ESCROW);
        expect(await store.adopt(headOf(1))).toBe(true);
        expect(await stagedIn(store)).toBeNull();
      }));
  });

  describe(`${name}: records that the agent showed`, () => {
    test("a later one is gone on from, and the calls between are missing", () =>
      withStore(async (store) => {
        await call(store, 1);
        expect(await store.adopt(headOf(1))).toBe(false);
        expect(await store.adopt(headOf(4))).toBe(true);
        expect(await store.adopt(headOf(3))).toBe(false);
        expect((await store.find(ESCROW))?.newest?.before.edges).toEqual(headOf(4).before.edges);
        expect(await store.answer(ESCROW, 4)).toBeNull();
        await call(store, 5);
        expect(await callsIn(store)).toEqual([keptCall(1), keptCall(5)]);
      }));

    test("none is while a call goes on, or once the session is closing", () =>
      withStore(async (store) => {
        await store.reserve(ESCROW, 1);
        expect(await store.adopt(headOf(2))).toBe(false);
        await store.append(keptCall(1), null);
        await store.close(closingOf(1));
        expect(await store.adopt(headOf(2))).toBe(false);
      }));
  });

  describe(`${name}: the end`, () => {
    test("a closing voucher is of the newest call, and no call comes after it", () =>
      withStore(async (store) => {
        await call(store, 1, 2);
        expect(await store.close(closingOf(1))).toBe(false);
        expect(await store.close(closingOf(3))).toBe(false);
        await store.reserve(ESCROW, 3);
        expect(await store.close(closingOf(2))).toBe(false);
        await store.drop(ESCROW);
        expect(await store.close(closingOf(2))).toBe(true);
        expect(await store.close(closingOf(2))).toBe(true);
        expect(await store.close(closingOf(3))).toBe(false);
        expect((await store.find(ESCROW))?.closing).toEqual(closingOf(2));
        expect(await store.reserve(ESCROW, 3)).toBe("behind");
        expect(await store.append(keptCall(3), null)).toBe(false);
      }));

    test("a session without a call is closed too", () =>
      withStore(async (store) => {
        const closing = { ...closingOf(1), count: 0, total: 0n };
        expect(await store.close(closing)).toBe(true);
        expect((await store.find(ESCROW))?.closing).toEqual(closing);
      }));

    test("the newest final attestation stays", () =>
      withStore(async (store) => {
        await call(store, 1);
        await store.close(closingOf(1));
        for (const [given, kept] of [
          [5n, 5n],
          [4n, 5n],
          [6n, 6n],
        ] as const) {
          await store.finish(ESCROW, finalOf(1, given));
          expect((await store.find(ESCROW))?.final).toEqual(finalOf(1, kept));
        }
        await store.end(ESCROW);
        expect((await store.find(ESCROW))?.final).toEqual(finalOf(1, 6n));
        expect(await callsIn(store)).toEqual([keptCall(1)]);
      }));
  });

  describe(`${name}: processes`, () => {
    test("a new store trusts no session before it begins, and then what is not older, for good", async () => {
      const place = await fresh();
      try {
        const store = await place.open();
        const later = { ...(SESSIONS[1] ?? KEPT), createdAt: KEPT.createdAt + 1n };
        await store.open(KEPT);
        await store.open(later);
        const shown = async (each: SessionStore) =>
          Promise.all(
            [KEPT, later].map(async ({ escrow }) => (await each.find(escrow))?.isRestored),
          );
        expect(await shown(store)).toEqual([true, true]);
        const unknown = new Error("no node answers");
        expect(
          await store.begin(() => Promise.reject(unknown)).catch((cause: unknown) => cause),
        ).toBe(unknown);
        expect(await shown(store)).toEqual([true, true]);
        await store.begin(() => Promise.resolve(later.createdAt));
        expect(await shown(store)).toEqual([true, false]);
        await store.begin(() => Promise.reject(new Error("it has begun")));
        await place.crash(store);
        const next = await place.open();
        await next.begin(() => Promise.reject(new Error("it has begun")));
        expect(await shown(next)).toEqual([true, false]);
      } finally {
        await place.remove();
      }
    });

    test("a store that is distrusted is so for good, for what was opened before", () =>
      withStore(async (first, place) => {
        const later = { ...(SESSIONS[1] ?? KEPT), createdAt: KEPT.createdAt + 10n };
        await first.open(KEPT);
        await first.open(later);
        const shown = async (store: SessionStore) =>
          Promise.all(
            [KEPT, later].map(async ({ escrow }) => (await store.find(escrow))?.isRestored),
          );
        expect(await shown(first)).toEqual([false, false]);
        await first.distrust(KEPT.createdAt + 1n);
        await first.distrust(KEPT.createdAt);
        expect(await shown(first)).toEqual([true, false]);
        await place.crash(first);
        expect(await shown(await place.open())).toEqual([true, false]);
      }));

    test("what was kept is there for the next one, and a dead one's reservation is free", () =>
      withStore(async (first, place) => {
        for (const session of SESSIONS) await first.open(session);
        await call(first, 1, 3);
        const second = SESSIONS[1]?.escrow ?? ESCROW;
        await first.adopt(headOf(5, 1));
        await first.end(SESSIONS[2]?.escrow ?? ESCROW);
        const before = await told(first);
        await first.reserve(ESCROW, 4);
        await place.crash(first);
        const next = await place.open();
        expect(await told(next)).toEqual(before);
        await call(next, 4);
        expect(await next.close(closingOf(5, 1))).toBe(true);
        await next.finish(second, finalOf(5, 1n, 1));
        const after = await told(next);
        await place.crash(next);
        expect(await told(await place.open())).toEqual(after);
      }));

    test("any history is that of the memory store", () =>
      fc.assert(
        fc.asyncProperty(fc.array(STEP, { maxLength: 40 }), (steps) =>
          withPlace(async (place) => {
            const shared = new SharedSessions();
            let model = memorySessions(shared);
            let store = await place.open();
            for (const step of steps) {
              if (step.what === "crash") {
                model.crash();
                model = memorySessions(shared);
                await place.crash(store);
                store = await place.open();
                continue;
              }
              const outcome = (each: SessionStore) =>
                taken(each, step).catch((cause: unknown) =>
                  cause instanceof SettlementError ? cause.code : Promise.reject(cause),
                );
              expect(await outcome(store)).toEqual(await outcome(model));
            }
            expect(await told(store)).toEqual(await told(model));
            await place.crash(store);
            expect(await told(await place.open())).toEqual(await told(model));
          }),
        ),
        runs(histories),
      ));

    if (!isShared) return;
    test("share reservations and calls, and one that was overtaken keeps nothing", () =>
      withStore(async (one, place) => {
        const other = await place.open();
        await other.open(KEPT);
        expect(await one.reserve(ESCROW, 1)).toBe("reserved");
        expect(await other.reserve(ESCROW, 1)).toBe("busy");
        expect(await other.append(keptCall(1), null)).toBe(false);
        expect(await other.adopt(headOf(2))).toBe(false);
        await other.drop(ESCROW);
        expect(await one.append(keptCall(1), answerOf(1))).toBe(true);
        expect(await other.answer(ESCROW, 1)).toEqual(answerOf(1));
        expect(await other.reserve(ESCROW, 2)).toBe("reserved");
        expect(await one.close(closingOf(1))).toBe(false);
        await place.crash(other);
        expect(await one.reserve(ESCROW, 2)).toBe("reserved");
        // The other one lives after all, and was only slow.
        expect(await other.append(keptCall(2), null)).toBe(false);
        expect(await one.append(keptCall(2), null)).toBe(true);
        expect(await callsIn(one)).toEqual([keptCall(1), keptCall(2)]);
      }));
  });
};

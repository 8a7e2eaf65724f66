import { expect, test } from "bun:test";
import {
  memorySessions,
  SharedSessions,
} from "../../../../client/sessions/store/memory-sessions.ts";
import type { SessionStore } from "../../../../client/sessions/store/session-store.ts";
import { sessionStoreContract } from "../../../contracts/session-store.ts";
import { KEPT } from "../../../doubles/session-sides.ts";

sessionStoreContract(
  "memorySessions",
  () => {
    const place = new SharedSessions();
    const crashes = new Map<SessionStore, () => void>();
    return Promise.resolve({
      open: () => {
        const store = memorySessions(place);
        crashes.set(store, store.crash);
        return Promise.resolve(store);
      },
      crash: (store) => Promise.resolve(crashes.get(store)?.()),
      remove: () => Promise.resolve(),
    });
  },
  { isShared: true, histories: 20 },
);

test("sessions of before the store may have calls that are not here", async () => {
  const store = memorySessions(new SharedSessions(KEPT.createdAt + 1n));
  await store.open(KEPT);
  expect((await store.find(KEPT.escrow))?.isRestored).toBe(true);
});

import {
  memorySessions,
  SharedSessions,
} from "../../../../client/sessions/store/memory-sessions.ts";
import { NOT_BEGUN, type SessionStore } from "../../../../client/sessions/store/session-store.ts";
import { sessionStoreContract } from "../../../contracts/session-store.ts";

sessionStoreContract(
  "memorySessions",
  () => {
    const place = new SharedSessions(NOT_BEGUN);
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

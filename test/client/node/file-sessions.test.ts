import { join } from "node:path";
import { fileSessions, type HeldSessions } from "../../../client/node/file-sessions.ts";
import type { SessionStore } from "../../../client/sessions/store/session-store.ts";
import { temporaryDirectory } from "../../app/support/running-service.ts";
import { sessionStoreContract } from "../../contracts/session-store.ts";

const place = (journalBytes: number) => async () => {
  const directory = await temporaryDirectory();
  const open = new Set<HeldSessions>();
  return {
    open: async () => {
      const store = await fileSessions(join(directory.path, "sessions"), {
        journalBytes,
        nowMs: () => 0,
      });
      open.add(store);
      return store;
    },
    crash: async (store: SessionStore) => {
      for (const each of open) if (each === store) await each.stop();
      open.delete(store as HeldSessions);
    },
    remove: async () => {
      for (const each of open) await each.stop();
      await directory.remove();
    },
  };
};

sessionStoreContract("fileSessions", place(8_388_608), { isShared: false, histories: 20 });
sessionStoreContract("fileSessions, folded at each turn", place(1), {
  isShared: false,
  histories: 20,
});

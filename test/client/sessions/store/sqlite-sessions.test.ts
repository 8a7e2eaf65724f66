import { Database } from "bun:sqlite";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  type SqliteDatabase,
  sqliteSessions,
} from "../../../../client/sessions/store/sqlite-sessions.ts";
import type { LeasedSessions } from "../../../../client/sessions/store/sql-sessions.ts";
import type { SessionStore } from "../../../../client/sessions/store/session-store.ts";
import { temporaryDirectory } from "../../../app/support/running-service.ts";
import { sessionStoreContract } from "../../../contracts/session-store.ts";

const place = (connect: (path: string) => SqliteDatabase & { close: () => void }) => async () => {
  const directory = await temporaryDirectory();
  const open = new Map<SessionStore, LeasedSessions>();
  const connections: Array<{ close: () => void }> = [];
  return {
    open: async () => {
      const db = connect(join(directory.path, "sessions.sqlite"));
      connections.push(db);
      const store = await sqliteSessions(db);
      // The sessions of the suite are of a time long ago.
      db.exec("UPDATE settlement_store SET born = 0");
      open.set(store, store);
      return store;
    },
    crash: async (store: SessionStore) => {
      await open.get(store)?.stop();
    },
    remove: async () => {
      for (const store of open.values()) await store.stop();
      for (const db of connections) db.close();
      await directory.remove();
    },
  };
};

sessionStoreContract(
  "sqliteSessions over bun:sqlite",
  place((path) => new Database(path)),
  {
    isShared: true,
    histories: 10,
  },
);
sessionStoreContract(
  "sqliteSessions over node:sqlite",
  place((path) => new DatabaseSync(path)),
  {
    isShared: true,
    histories: 10,
  },
);

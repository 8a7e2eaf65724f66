import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  type SqliteDatabase,
  sqliteSessions,
} from "../../../../client/sessions/store/sqlite-sessions.ts";
import type { LeasedSessions } from "../../../../client/sessions/store/sql-sessions.ts";
import type { SessionStore } from "../../../../client/sessions/store/session-store.ts";
import { temporaryDirectory } from "../../../app/support/running-service.ts";
import { fileIdentity } from "../../../../client/node/born-file.ts";
import { sessionStoreContract } from "../../../contracts/session-store.ts";
import { call, callsIn } from "../../../contracts/session-histories.ts";
import { sharedSessionsContract } from "../../../contracts/shared-sessions.ts";
import { KEPT } from "../../../doubles/session-sides.ts";

const place = (connect: (path: string) => SqliteDatabase & { close: () => void }) => async () => {
  const directory = await temporaryDirectory();
  const open = new Map<SessionStore, LeasedSessions>();
  const connections: Array<{ close: () => void }> = [];
  return {
    open: async () => {
      const db = connect(join(directory.path, "sessions.sqlite"));
      connections.push(db);
      const store = await sqliteSessions(db);
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

sharedSessionsContract("sqliteSessions", async () => {
  const directory = await temporaryDirectory();
  const path = join(directory.path, "sessions.sqlite");
  const db = new Database(path);
  let store: LeasedSessions | undefined;
  return {
    arguments: [path, ""],
    open: async () => {
      store = await sqliteSessions(db);
      return store;
    },
    forget: async () => {
      db.exec("UPDATE settlement_processes SET held_until = 0");
    },
    remove: async () => {
      await store?.stop();
      db.close();
      await directory.remove();
    },
  };
});

test("a copy of the file, or what its caller says is one, answers no call of the sessions of before", async () => {
  const directory = await temporaryDirectory();
  const path = join(directory.path, "sessions.sqlite");
  const copy = join(directory.path, "copy.sqlite");
  let now = 0n;
  const isRestored = async (file: string, restored = false): Promise<boolean | undefined> => {
    const db = new Database(file);
    const store = await sqliteSessions(db, { identity: await fileIdentity(file), restored });
    await store.begin(() => Promise.resolve(now));
    await store.open(KEPT);
    const found = await store.find(KEPT.escrow);
    await store.stop();
    db.close();
    return found?.isRestored;
  };
  new Database(path).close();
  expect(await isRestored(path)).toBe(false);
  now = KEPT.createdAt + 1n;
  expect(await isRestored(path)).toBe(false);
  await copyFile(path, copy);
  expect(await isRestored(copy)).toBe(true);
  expect(await isRestored(copy)).toBe(true);
  expect(await isRestored(path)).toBe(false);
  expect(await isRestored(path, true)).toBe(true);
  await directory.remove();
});

test("a row that was changed is damage, and named", async () => {
  const db = new Database(":memory:");
  const store = await sqliteSessions(db);
  await store.open(KEPT);
  await call(store, 1, 3);
  db.exec("UPDATE settlement_calls SET record = x'00' || substr(record, 2) WHERE count = 2");
  expect(await callsIn(store).catch((cause: unknown) => cause)).toMatchObject({
    code: "store_damaged",
  });
  db.exec("DELETE FROM settlement_calls WHERE count = 3");
  expect(await callsIn(store, 0, 9).catch((cause: unknown) => cause)).toMatchObject({
    code: "store_damaged",
  });
  db.exec("UPDATE settlement_sessions SET head = x'00'");
  expect(await store.find(KEPT.escrow).catch((cause: unknown) => cause)).toMatchObject({
    code: "store_damaged",
  });
  await store.stop();
  db.close();
});

test("a database that fails is unusable, and nothing of the group is kept", async () => {
  const db = new Database(":memory:");
  const store = await sqliteSessions(db);
  await store.open(KEPT);
  await store.stop();
  db.exec("DROP TABLE settlement_sessions");
  expect(await store.reserve(KEPT.escrow, 1).catch((cause: unknown) => cause)).toMatchObject({
    code: "store_unusable",
  });
  db.close();
});

test("tables of another version are left as they are", async () => {
  const db = new Database(":memory:");
  await (await sqliteSessions(db)).stop();
  db.exec("UPDATE settlement_store SET version = 1");
  expect(await sqliteSessions(db).catch((cause: unknown) => cause)).toMatchObject({
    code: "store_unusable",
    message: expect.stringContaining("another version") as string,
  });
  db.close();
});

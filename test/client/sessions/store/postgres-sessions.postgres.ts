import { SQL } from "bun";
import { expect, test } from "bun:test";
import { postgresSessions } from "../../../../client/sessions/store/postgres-sessions.ts";
import type { LeasedSessions } from "../../../../client/sessions/store/sql-sessions.ts";
import type { SessionStore } from "../../../../client/sessions/store/session-store.ts";
import { freshSchema } from "../../../adapters/postgres/test-database.ts";
import { sessionStoreContract } from "../../../contracts/session-store.ts";
import { sharedSessionsContract } from "../../../contracts/shared-sessions.ts";
import { answerOf } from "../../../doubles/kept-calls.ts";
import { honestCalls, KEPT } from "../../../doubles/session-sides.ts";

const connected = async () => {
  const url = freshSchema();
  const schema = String(url.searchParams.get("schema"));
  url.searchParams.delete("schema");
  const sql = new SQL(url.href, { max: 4, connection: { search_path: schema } });
  await sql.unsafe(`CREATE SCHEMA ${schema}`);
  return { sql, schema, url: url.href };
};

sessionStoreContract(
  "postgresSessions",
  async () => {
    const { sql, schema } = await connected();
    const open = new Map<SessionStore, LeasedSessions>();
    return {
      open: async () => {
        const store = await postgresSessions((text, values) => sql.unsafe(text, [...values]));
        open.set(store, store);
        return store;
      },
      crash: async (store) => {
        await open.get(store)?.stop();
      },
      remove: async () => {
        for (const store of open.values()) await store.stop();
        await sql.unsafe(`DROP SCHEMA ${schema} CASCADE`);
        await sql.close();
      },
    };
  },
  { isShared: true, histories: 10 },
);

sharedSessionsContract("postgresSessions", async () => {
  const { sql, schema, url } = await connected();
  let store: LeasedSessions | undefined;
  return {
    arguments: [url, schema],
    open: async () => {
      store = await postgresSessions((text, values) => sql.unsafe(text, [...values]));
      return store;
    },
    forget: async () => {
      await sql.unsafe("UPDATE settlement_processes SET held_until = 0");
    },
    remove: async () => {
      await store?.stop();
      await sql.unsafe(`DROP SCHEMA ${schema} CASCADE`);
      await sql.close();
    },
  };
});

test("tables that were copied answer no call of the sessions of before; rows as pg gives them do too", async () => {
  const { sql, schema } = await connected();
  let now = 0n;
  const isRestored = async (): Promise<boolean | undefined> => {
    // As `pool.query` of pg answers.
    const store = await postgresSessions(async (text, values) => ({
      rows: Array.from(await sql.unsafe(text, [...values])),
    }));
    await store.begin(() => Promise.resolve(now));
    await store.open(KEPT);
    const found = await store.find(KEPT.escrow);
    await store.stop();
    return found?.isRestored;
  };
  expect(await isRestored()).toBe(false);
  now = KEPT.createdAt + 1n;
  await sql.unsafe("CREATE TABLE copied AS SELECT * FROM settlement_store");
  await sql.unsafe("DROP TABLE settlement_store");
  await sql.unsafe("CREATE TABLE settlement_store (LIKE copied, PRIMARY KEY (one))");
  await sql.unsafe("INSERT INTO settlement_store SELECT * FROM copied");
  expect(await isRestored()).toBe(true);
  await sql.unsafe(`DROP SCHEMA ${schema} CASCADE`);
  await sql.close();
});

test("many processes that begin at once make the tables once", async () => {
  const { sql, schema } = await connected();
  const stores = await Promise.all(
    Array.from({ length: 4 }, () =>
      postgresSessions((text, values) => sql.unsafe(text, [...values])),
    ),
  );
  for (const store of stores) await store.open(KEPT);
  expect((await stores[0]?.unfinished())?.length).toBe(1);
  for (const store of stores) await store.stop();
  await sql.unsafe(`DROP SCHEMA ${schema} CASCADE`);
  await sql.close();
});

test("a thousand calls take at most 350 bytes each, all tables and indexes together", async () => {
  // A database of its own: an old row stays for as long as any transaction of the same database is older.
  const shared = await connected();
  const database = `sized_${shared.schema}`;
  await shared.sql.unsafe(`CREATE DATABASE ${database}`);
  const own = new URL(shared.url);
  own.pathname = `/${database}`;
  const sql = new SQL(own.href, { max: 4 });
  const store = await postgresSessions((text, values) => sql.unsafe(text, [...values]));
  await store.open(KEPT);
  const bytes = async (): Promise<number> => {
    const [row] = (await sql.unsafe(
      `SELECT sum(pg_total_relation_size(oid))::text AS bytes FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
    )) as ReadonlyArray<{ readonly bytes: string }>;
    return Number(row?.bytes);
  };
  const answer = { ...answerOf(1), body: new Uint8Array(40) };
  let before = 0;
  const calls = honestCalls(Array.from({ length: 1100 }, () => ({ limit: 10n, price: 10n })));
  for (const { voucher, receipt, intent } of calls) {
    if (voucher.count === 101) before = await bytes();
    await store.reserve(KEPT.escrow, voucher.count);
    await store.append({ voucher, receipt, intent, status: 200 }, answer);
  }
  expect(((await bytes()) - before) / 1000).toBeLessThan(350);
  await store.stop();
  await sql.close();
  await shared.sql.unsafe(`DROP DATABASE ${database}`);
  await shared.sql.unsafe(`DROP SCHEMA ${shared.schema} CASCADE`);
  await shared.sql.close();
});

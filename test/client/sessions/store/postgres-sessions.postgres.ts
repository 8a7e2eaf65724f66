import { SQL } from "bun";
import { postgresSessions } from "../../../../client/sessions/store/postgres-sessions.ts";
import type { LeasedSessions } from "../../../../client/sessions/store/sql-sessions.ts";
import type { SessionStore } from "../../../../client/sessions/store/session-store.ts";
import { freshSchema } from "../../../adapters/postgres/test-database.ts";
import { sessionStoreContract } from "../../../contracts/session-store.ts";

const connected = async () => {
  const url = freshSchema();
  const schema = String(url.searchParams.get("schema"));
  url.searchParams.delete("schema");
  const sql = new SQL(url.href, { max: 4, connection: { search_path: schema } });
  await sql.unsafe(`CREATE SCHEMA ${schema}`);
  return { sql, schema };
};

sessionStoreContract(
  "postgresSessions",
  async () => {
    const { sql, schema } = await connected();
    const open = new Map<SessionStore, LeasedSessions>();
    return {
      open: async () => {
        const store = await postgresSessions((text, values) => sql.unsafe(text, [...values]));
        // The sessions of the suite are of a time long ago.
        await sql.unsafe("UPDATE settlement_store SET born = 0");
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

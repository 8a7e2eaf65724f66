import { Database } from "bun:sqlite";
import { SQL } from "bun";
import { postgresSessions } from "../../../../client/sessions/store/postgres-sessions.ts";
import type { LeasedSessions } from "../../../../client/sessions/store/sql-sessions.ts";
import { sqliteSessions } from "../../../../client/sessions/store/sqlite-sessions.ts";
import { tallyOf } from "../../../../core/protocol/calls/session-head.ts";
import { NO_CALLS } from "../../../../core/protocol/calls/session-tally.ts";
import { answerOf } from "../../../doubles/kept-calls.ts";
import { honestCall, KEPT } from "../../../doubles/session-sides.ts";

// Run as a process by the tests of shared stores: makes calls of one session in the database argv[2] (and the schema
// argv[3] of PostgreSQL), and prints the number of each that it kept itself, up to argv[4].
const [place = "", schema = "", most = "0"] = process.argv.slice(2);

/** The store that a process has of a place. */
const opened = (): Promise<LeasedSessions> => {
  if (!place.startsWith("postgres:")) return sqliteSessions(new Database(place));
  const sql = new SQL(place, { max: 2, connection: { search_path: schema } });
  return postgresSessions((text, values) => sql.unsafe(text, [...values]));
};

const store = await opened();
await store.open(KEPT);
for (let count = 0; count < Number(most);) {
  const newest = (await store.find(KEPT.escrow))?.newest ?? null;
  const { voucher, receipt, intent } = honestCall(newest === null ? NO_CALLS : tallyOf(newest), {
    limit: 2n,
    price: 1n,
  });
  ({ count } = voucher);
  if ((await store.reserve(KEPT.escrow, count)) !== "reserved") continue;
  if (await store.append({ voucher, receipt, intent, status: 200 }, answerOf(1)))
    process.stdout.write(`${count}\n`);
}
await store.stop();
process.exit(0);

import { expect, test } from "bun:test";
import { Effect, Layer, Logger, Redacted } from "effect";
import { indexNewsPostgres } from "../../../adapters/postgres/index-news.ts";
import { PostgresStore, postgresStore } from "../../../adapters/postgres/postgres-store.ts";
import { rowsOf } from "../../../adapters/postgres/queries.ts";
import { checkDatabase } from "../../../app/doctor/check-database.ts";
import { IndexNews } from "../../../ports/index/index-news.ts";
import { startPooler } from "../../adapters/postgres/pooler.ts";
import { addressesAt, besideStore, freshSchema } from "../../adapters/postgres/test-database.ts";

const POLLS =
  "DATABASE_URL is a pooler and DATABASE_DIRECT_URL is not set: replicas poll the database for news";

/** Runs a program on a store that knows the pooler alone, and gives what it logged as well. */
const behindPooler = async <A, E>(
  url: URL,
  program: Effect.Effect<A, E, PostgresStore | IndexNews>,
) => {
  const lines: Array<unknown> = [];
  const logged = Logger.layer([Logger.make(({ message }) => void lines.push(message))]);
  const store = postgresStore({ url: Redacted.make(url), directUrl: null });
  const layer = Layer.provideMerge(indexNewsPostgres, store);
  const outcome = await Effect.runPromise(
    program.pipe(Effect.provide(Layer.provideMerge(layer, logged))),
  );
  return { outcome, lines: lines.flat() };
};

const setOf = Effect.gen(function* () {
  const { ready, run } = yield* PostgresStore;
  yield* ready;
  const names = ["search_path", "statement_timeout", "lock_timeout", "random_page_cost"];
  const [row] = yield* run((sql) =>
    rowsOf<Record<string, string>>(
      sql,
      `SELECT ${names.map((name) => `current_setting('${name}') AS ${name}`).join(", ")}`,
    ),
  );
  return row;
});

test("behind a pooler every statement has the service's settings, and no session keeps them", async () => {
  const url = freshSchema();
  const { outcome } = await behindPooler(url, setOf);
  expect(outcome).toEqual({
    search_path: url.searchParams.get("schema") ?? "",
    statement_timeout: "10s",
    lock_timeout: "5s",
    random_page_cost: "1.1",
  });
  const plain = new URL(url);
  plain.searchParams.delete("schema");
  await using sql = new Bun.SQL(plain.href, { prepare: false, max: 1 });
  const [left] = await sql.unsafe<ReadonlyArray<{ timeout: string }>>(
    "SELECT current_setting('statement_timeout') AS timeout",
  );
  expect(left).toEqual({ timeout: "0" });
});

test("a pooler that drops what a session begins with is told from a server all the same", async () => {
  const url = freshSchema();
  const server = new URL(process.env["TEST_DATABASE_DIRECT_URL"] ?? "");
  const ignored =
    "search_path, statement_timeout, idle_in_transaction_session_timeout, lock_timeout, random_page_cost, settlement_evidence.session";
  const pooler = await startPooler(server.href, { ignore_startup_parameters: ignored });
  try {
    url.port = new URL(pooler.url).port;
    const { outcome } = await behindPooler(url, setOf);
    expect(outcome).toMatchObject({ search_path: url.searchParams.get("schema") ?? "" });
  } finally {
    await pooler.stop();
  }
});

test("without DATABASE_DIRECT_URL replicas look every 20 ms, and the start says so in one line", async () => {
  const { outcome, lines } = await behindPooler(
    freshSchema(),
    Effect.gen(function* () {
      const { listen } = yield* PostgresStore;
      const isTold = yield* Effect.scoped(listen("news", () => undefined));
      return { isTold, every: yield* (yield* IndexNews).lookEveryMs };
    }),
  );
  expect(outcome).toEqual({ isTold: false, every: 20 });
  expect(lines.filter((line) => line === POLLS)).toHaveLength(1);
});

test("the doctor tells pooler, server and standby apart", async () => {
  const url = freshSchema();
  const schema = url.searchParams.get("schema") ?? "";
  const textsOf = (directUrl: string | null, readUrl: string | null) =>
    Effect.runPromise(
      checkDatabase(
        {
          ...addressesAt(url),
          directUrl: directUrl === null ? null : Redacted.make(new URL(directUrl)),
          readUrl: readUrl === null ? null : Redacted.make(new URL(readUrl)),
        },
        null,
      ),
    );
  const direct = process.env["TEST_DATABASE_DIRECT_URL"] ?? "";
  const right = await textsOf(direct, null);
  expect(right.map(({ ok }) => ok)).toEqual([true, true]);
  expect(right[0]?.text).toContain(
    `(schema ${schema}) will be made, through a pooler; replicas hear of each other over DATABASE_DIRECT_URL`,
  );
  expect(right[1]?.text).toContain("can be listened at");
  const [alone] = await textsOf(null, null);
  expect(alone?.text).toContain("replicas poll, because DATABASE_DIRECT_URL is not set");
  const [, pooler, primary] = await textsOf(url.href, direct);
  expect(pooler).toMatchObject({ ok: false });
  expect(pooler?.text).toContain("is a pooler; name the server itself in DATABASE_DIRECT_URL");
  expect(primary).toMatchObject({ ok: false });
  expect(primary?.text).toContain("is no standby; name one in DATABASE_READ_URL");
  await using beside = besideStore(url);
  // Nothing was made by looking.
  expect(
    Array.from(await beside.unsafe(`SELECT FROM pg_namespace WHERE nspname = '${schema}'`)),
  ).toEqual([]);
});

import { SQL } from "bun";
import { describe, expect, test } from "bun:test";
import { Effect, Fiber } from "effect";
import { escrowIndexMemory } from "../../../adapters/memory/escrow-index.ts";
import { STORE_MIGRATIONS } from "../../../adapters/postgres/store-schema.ts";
import { migrate } from "../../../adapters/postgres/migrate.ts";
import { addressFromBytes } from "../../../core/domain/address.ts";
import { EscrowIndex } from "../../../ports/escrow-index.ts";
import { ESCROWS_PER_BATCH, numberedBatch } from "../sqlite/numbered-batch.ts";
import { freshSchema, indexAt, TEST_LEDGER } from "./test-database.ts";

type Index = EscrowIndex["Service"];

/** Opens the store, runs a program on it and closes it. */
const withStore = <A, E>(
  url: URL,
  program: (index: Index) => Effect.Effect<A, E>,
  identity = TEST_LEDGER,
) => Effect.provide(EscrowIndex.use(program), indexAt(url, identity));

/** Runs statements beside the service, in the store's schema. */
const aside = async (url: URL, ...statements: ReadonlyArray<string>) => {
  const plain = new URL(url);
  const search_path = plain.searchParams.get("schema") ?? "";
  plain.searchParams.delete("schema");
  await using sql = new SQL(plain.href, { max: 1, bigint: true, connection: { search_path } });
  const results = [];
  for (const statement of statements) results.push(Array.from(await sql.unsafe(statement)));
  return results;
};

const everything = (index: Index) =>
  Effect.all([
    index.escrows({}, 10_000, null),
    index.events({}, 10_000, null),
    index.merchants({}, 10_000, null),
    index.summary,
  ]);

const numbers = (last: number) => Array.from({ length: last }, (_, at) => at + 1);

const applyNumbered = (last: number) => (index: Index) =>
  Effect.forEach(numbers(last), (number) => index.apply(numberedBatch(number)), { discard: true });

/** What an index holds that was never interrupted. */
const uninterrupted = (last: number) =>
  Effect.runPromise(
    Effect.provide(
      EscrowIndex.use((index) => Effect.andThen(applyNumbered(last)(index), everything(index))),
      escrowIndexMemory(TEST_LEDGER),
    ),
  );

describe("the Postgres store", () =>
  describe("the Postgres store", () => {
    test("keeps everything, and is opened again", async () => {
      const url = freshSchema();
      await Effect.runPromise(withStore(url, applyNumbered(3)));
      expect(await Effect.runPromise(withStore(url, everything))).toEqual(await uninterrupted(3));
    });

    test("can be opened and made by several replicas at once", async () => {
      const url = freshSchema();
      const replicas = numbers(6).map(() => withStore(url, (index) => index.summary));
      const summaries = await Effect.runPromise(Effect.all(replicas, { concurrency: "unbounded" }));
      expect(new Set(summaries.map(({ escrows }) => escrows))).toEqual(new Set([0]));
      const [tables] = await aside(url, "SELECT version FROM schema_version");
      expect(tables).toEqual([{ version: STORE_MIGRATIONS.length }]);
    });

    test("batches applied at the same time are one after the other: no hole, no event twice, one chain", async () => {
      const url = freshSchema();
      const writer = (index: Index) =>
        Effect.forEach(numbers(12), (number) => index.apply(numberedBatch(number)), {
          concurrency: 4,
        });
      await Effect.runPromise(
        Effect.all([withStore(url, writer), withStore(url, writer), withStore(url, writer)], {
          concurrency: "unbounded",
        }),
      );
      const [escrows, events, , summary] = await Effect.runPromise(withStore(url, everything));
      const [expectedEscrows, expectedEvents, , expectedSummary] = await uninterrupted(12);
      expect(escrows).toEqual(expectedEscrows);
      expect(summary).toEqual(expectedSummary);
      expect(events.map(({ position }) => position)).toEqual(
        expectedEvents.map(({ position }) => position),
      );
      expect(new Set(events.map(({ event }) => event.id)).size).toBe(events.length);
      // The chain over the order in which they came, by an index that sees each event once.
      const inOrder = events.toReversed();
      const rechained = await Effect.runPromise(
        Effect.provide(
          EscrowIndex.use((index) =>
            Effect.andThen(
              index.apply({
                escrows: expectedEscrows.map((row) => ({ row, slot: 1n })),
                merchants: [],
                events: inOrder.map(({ event }) => event),
                checkpoint: null,
              }),
              index.events({}, 10_000, null),
            ),
          ),
          escrowIndexMemory(TEST_LEDGER),
        ),
      );
      expect(events).toEqual(rechained);
    });

    test("refuses the store of a newer version and leaves it alone", async () => {
      const url = freshSchema();
      await Effect.runPromise(withStore(url, applyNumbered(1)));
      await aside(url, "UPDATE schema_version SET version = 999");
      const refusal = await Effect.runPromise(Effect.flip(withStore(url, everything)));
      expect(refusal).toMatchObject({ _tag: "StoreTooNew", found: 999 });
      expect(refusal.message).toContain("999");
      const [count] = await aside(url, "SELECT count(*) FROM escrow");
      expect(count).toEqual([{ count: BigInt(ESCROWS_PER_BATCH) }]);
    });

    test("a refusal names the store without its password", async () => {
      const url = freshSchema();
      await Effect.runPromise(withStore(url, applyNumbered(1)));
      await aside(url, "UPDATE schema_version SET version = 999");
      url.password = "hunter2";
      const refusal = await Effect.runPromise(Effect.flip(withStore(url, everything)));
      expect(refusal.message).toContain(url.host);
      expect(JSON.stringify(refusal) + refusal.message).not.toContain("hunter2");
    });

    test("refuses the store of another ledger or of other programs, and says what differs", async () => {
      const url = freshSchema();
      await Effect.runPromise(withStore(url, applyNumbered(1)));
      const other = addressFromBytes(new Uint8Array(32).fill(250));
      const identities = [
        { ...TEST_LEDGER, genesisHash: other },
        { ...TEST_LEDGER, deployment: { ...TEST_LEDGER.deployment, custodyProgram: other } },
        { ...TEST_LEDGER, deployment: { ...TEST_LEDGER.deployment, attestorProgram: other } },
      ];
      const fields = ["genesis_hash", "custody_program", "attestor_program"] as const;
      for (const [at, identity] of identities.entries()) {
        const refusal = await Effect.runPromise(Effect.flip(withStore(url, everything, identity)));
        expect(refusal).toMatchObject({
          _tag: "StoreOfAnotherLedger",
          differences: [{ field: fields[at], configured: other }],
        });
      }
      expect(await Effect.runPromise(withStore(url, everything))).toEqual(await uninterrupted(1));
    });

    test("refuses a schema that holds another program's tables", async () => {
      const url = freshSchema();
      const schema = url.searchParams.get("schema");
      await aside(url, `CREATE SCHEMA ${schema}`, "CREATE TABLE recipes (name TEXT)");
      const refusal = await Effect.runPromise(Effect.flip(withStore(url, everything)));
      expect(refusal._tag).toBe("StoreCorrupt");
      expect(refusal.message).toContain(String(schema));
    });

    test("refuses a database whose encoding would change names", async () => {
      const url = freshSchema();
      await aside(
        url,
        "CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0",
      );
      url.pathname = "/latin";
      const refusal = await Effect.runPromise(Effect.flip(withStore(url, everything)));
      expect(refusal._tag).toBe("StoreCorrupt");
      expect(refusal.message).toContain("LATIN1");
    });

    test("an older schema is brought forward and keeps its rows; a failed step leaves it as it was", async () => {
      const url = freshSchema();
      const schema = String(url.searchParams.get("schema"));
      const plain = new URL(url);
      plain.searchParams.delete("schema");
      await using sql = new SQL(plain.href, { bigint: true, connection: { search_path: schema } });
      const V1 = "CREATE TABLE fruit (name TEXT); INSERT INTO fruit VALUES ('pear')";
      const V2 = "ALTER TABLE fruit ADD COLUMN colour TEXT NOT NULL DEFAULT 'green'";
      const bring = (...steps: ReadonlyArray<string>) => migrate(sql, "store", schema, steps);
      const rows = async () => Array.from(await sql.unsafe("SELECT * FROM fruit"));
      expect(await bring(V1)).toBeUndefined();
      expect(await rows()).toEqual([{ name: "pear" }]);
      expect(await bring(V1, `${V2}; DROP TABLE nowhere`).catch(String)).toContain("nowhere");
      expect(await rows()).toEqual([{ name: "pear" }]);
      expect(await bring(V1, V2)).toBeUndefined();
      expect(await rows()).toEqual([{ name: "pear", colour: "green" }]);
      expect(await bring(V1)).toMatchObject({ _tag: "StoreTooNew", found: 2, supported: 1 });
    });

    test("a server that is away is a failure that can pass, a database that is not there one that stays", async () => {
      const away = freshSchema();
      away.port = "1";
      const absent = freshSchema();
      absent.pathname = "/nowhere";
      expect(await Effect.runPromise(Effect.flip(withStore(away, everything)))).toMatchObject({
        _tag: "StoreUnavailable",
        retryable: true,
      });
      expect(await Effect.runPromise(Effect.flip(withStore(absent, everything)))).toMatchObject({
        _tag: "StoreUnavailable",
        retryable: false,
      });
    });

    test("connections that the server ends: what ran fails as retryable or not at all, and it recovers unaided", async () => {
      const url = freshSchema();
      const end = () =>
        aside(
          url,
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE application_name = 'settlement-evidence' AND pid <> pg_backend_pid()`,
        );
      const program = withStore(url, (index) =>
        Effect.gen(function* () {
          for (const number of numbers(10)) {
            const applied = yield* Effect.forkChild(
              Effect.result(index.apply(numberedBatch(number))),
            );
            yield* Effect.promise(end);
            const result = yield* Fiber.join(applied);
            if (result._tag === "Failure") expect(result.failure.retryable).toBe(true);
            yield* Effect.retry(index.apply(numberedBatch(number)), { times: 5 });
          }
          return yield* everything(index);
        }),
      );
      expect(await Effect.runPromise(program)).toEqual(await uninterrupted(10));
    });

    test("any search text is answered, U+0000 included", async () => {
      const found = withStore(freshSchema(), (index) =>
        Effect.forEach(["\0", "%", "\\", "' OR true --", "\u{1F600}"], (text) =>
          index.merchants({ text }, 5, null),
        ),
      );
      expect(await Effect.runPromise(found)).toEqual([[], [], [], [], []]);
    });
  }));

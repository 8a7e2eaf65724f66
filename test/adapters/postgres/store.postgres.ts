import { describe, expect, test } from "bun:test";
import { Effect, Fiber } from "effect";
import { SCHEMA_VERSION } from "../../../adapters/postgres/store-schema.ts";
import { addressFromBytes } from "../../../core/domain/address.ts";
import { everything } from "../../contracts/index-content.ts";
import { ESCROWS_PER_BATCH, numberedBatch } from "../sqlite/numbered-batch.ts";
import { applyNumbered, uninterrupted } from "../sqlite/test-store.ts";
import { aside, freshSchema, TEST_LEDGER, withStore } from "./test-database.ts";

const numbers = (last: number) => Array.from({ length: last }, (_, at) => at + 1);

describe("the Postgres store", () =>
  describe("the Postgres store", () => {
    test("keeps everything, and is opened again", async () => {
      const url = freshSchema();
      await Effect.runPromise(withStore(url, applyNumbered(3)));
      expect(await Effect.runPromise(withStore(url, everything))).toEqual(await uninterrupted(3));
    });

    test("can be opened and made by several replicas at once", async () => {
      const url = freshSchema();
      const replicas = numbers(6).map(() => withStore(url, ({ reader }) => reader.summary));
      const summaries = await Effect.runPromise(Effect.all(replicas, { concurrency: "unbounded" }));
      expect(new Set(summaries.map(({ escrows }) => escrows))).toEqual(new Set([0]));
      const [tables] = await aside(url, "SELECT version FROM schema_version");
      expect(tables).toEqual([{ version: SCHEMA_VERSION }]);
    });

    test("of batches that several replicas apply at the same time each is applied once, and the others are refused", async () => {
      const url = freshSchema();
      const last = 12;
      const replica = withStore(url, ({ writer }) =>
        Effect.forEach(numbers(last), (number) =>
          Effect.result(writer.apply(numberedBatch(number))),
        ),
      );
      const results = await Effect.runPromise(
        Effect.all([replica, replica, replica], { concurrency: "unbounded" }),
      );
      const applied = numbers(last).map(() => 0);
      for (const [at, result] of results.flatMap((of) => [...of.entries()]))
        if (result._tag === "Success") applied[at] = (applied[at] ?? 0) + 1;
        else expect(result.failure).toMatchObject({ _tag: "StoreUnavailable", retryable: true });
      expect(applied).toEqual(numbers(last).map(() => 1));
      expect(await Effect.runPromise(withStore(url, everything))).toEqual(
        await uninterrupted(last),
      );
    });

    test("refuses the schema of another version, names the cure and changes nothing", async () => {
      for (const version of [SCHEMA_VERSION + 1, 999]) {
        const url = freshSchema();
        await Effect.runPromise(withStore(url, applyNumbered(1)));
        await aside(url, `UPDATE schema_version SET version = ${version}`);
        const refusal = await Effect.runPromise(Effect.flip(withStore(url, everything)));
        expect(refusal).toMatchObject({ _tag: "StoreTooNew", found: version });
        expect(refusal.message).toContain(String(url.searchParams.get("schema")));
        expect(refusal.message).toContain("another ?schema= in DATABASE_URL");
        const [kept, escrows] = await aside(
          url,
          "SELECT version FROM schema_version",
          "SELECT count(*) FROM escrow",
        );
        expect(kept).toEqual([{ version }]);
        expect(escrows).toEqual([{ count: BigInt(ESCROWS_PER_BATCH) }]);
      }
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
          const stands = Effect.map(index.reader.summary, ({ mark }) => mark?.slot ?? 0n);
          for (const number of numbers(10)) {
            const apply = index.writer.apply(numberedBatch(number));
            const applied = yield* Effect.forkChild(Effect.result(apply));
            yield* Effect.promise(end);
            const result = yield* Fiber.join(applied);
            if (result._tag === "Failure") expect(result.failure.retryable).toBe(true);
            // A batch may be written though its answer was lost.
            const applyUnlessThere = Effect.flatMap(stands, (slot) =>
              slot === BigInt(number) ? Effect.void : apply,
            );
            yield* Effect.retry(applyUnlessThere, { times: 5 });
          }
          return yield* everything(index);
        }),
      );
      expect(await Effect.runPromise(program)).toEqual(await uninterrupted(10));
    });

    test("any search text is answered, U+0000 included", async () => {
      const found = withStore(freshSchema(), ({ reader }) =>
        Effect.forEach(["\0", "%", "\\", "' OR true --", "\u{1F600}"], (text) =>
          reader.merchants({ text }, 5, null),
        ),
      );
      expect(await Effect.runPromise(found)).toEqual([[], [], [], [], []]);
    });
  }));

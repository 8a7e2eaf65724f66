import { expect, test } from "bun:test";
import { Context, Effect, Layer } from "effect";
import { IndexReader } from "../../../ports/index/index-reader.ts";
import { IndexWriter } from "../../../ports/index/index-writer.ts";
import { StoreUnavailable } from "../../../ports/index/store-refusal.ts";
import { standbyReader, StandbyStore } from "../../../adapters/postgres/standby-reader.ts";
import { PostgresStore } from "../../../adapters/postgres/postgres-store.ts";
import { walletOf } from "../../simulation/world-escrow.ts";
import { numberedBatch } from "../sqlite/numbered-batch.ts";
import { aside, freshSchema, indexAt, storeAt, TEST_LEDGER } from "./test-database.ts";

const AWAY = new StoreUnavailable({ retryable: true, cause: "killed" });

/** Escrows of a page that is longer than what is there. */
const MANY = 500;

/**
 * A reader over two schemas, of which one plays the standby: `apply` writes a batch into one of them, and the standby's
 * first escrow is gone, which tells where a page was read.
 */
const overTwo = <A, E>(
  program: (parts: {
    readonly reader: IndexReader["Service"];
    readonly apply: (where: "primary" | "standby", batch: number) => Effect.Effect<void>;
    readonly rows: Effect.Effect<number>;
    /** The primary does not answer from now on. */
    readonly end: Effect.Effect<void>;
  }) => Effect.Effect<A, E>,
  standbyLedger = TEST_LEDGER,
) => {
  const urls = { primary: freshSchema(), standby: freshSchema() };
  return Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const primary = yield* Layer.build(indexAt(urls.primary));
        const copied = yield* Layer.build(indexAt(urls.standby, standbyLedger));
        const standby = Context.get(yield* Layer.build(storeAt(urls.standby)), PostgresStore);
        const live = Context.get(primary, IndexReader);
        let isAway = false;
        const summary = Effect.suspend(() => (isAway ? Effect.fail(AWAY) : live.summary));
        const store = Context.get(primary, PostgresStore);
        const run: typeof store.run = (work) =>
          Effect.suspend(() => (isAway ? Effect.fail(AWAY) : store.run(work)));
        const services = primary.pipe(
          Context.add(IndexReader, { ...live, summary }),
          Context.add(PostgresStore, { ...store, run }),
          Context.add(StandbyStore, standby),
        );
        const reader = Context.get(
          yield* Layer.build(Layer.provide(standbyReader, Layer.succeedContext(services))),
          IndexReader,
        );
        const apply = (where: "primary" | "standby", batch: number) =>
          Effect.gen(function* () {
            const { apply: write } = Context.get(
              where === "primary" ? primary : copied,
              IndexWriter,
            );
            yield* Effect.orDie(write(numberedBatch(batch)));
            if (where === "standby" && batch === 1)
              yield* Effect.promise(() =>
                aside(
                  urls.standby,
                  "DELETE FROM escrow WHERE created_seq = (SELECT min(created_seq) FROM escrow)",
                ),
              );
          });
        const rows = Effect.map(
          Effect.orDie(reader.escrows({}, MANY, null)),
          ({ length }) => length,
        );
        const end = Effect.sync(() => {
          isAway = true;
        });
        return yield* program({ reader, apply, rows, end });
      }),
    ),
  );
};

test("pages come from the standby once it holds what the primary has shown, never before", () =>
  overTwo(({ reader, apply, rows }) =>
    Effect.gen(function* () {
      yield* apply("primary", 1);
      expect((yield* reader.summary).mark?.slot).toBe(1n);
      // The standby holds nothing yet.
      expect(yield* rows).toBe(8);
      yield* apply("standby", 1);
      expect(yield* rows).toBe(7);
      yield* apply("primary", 2);
      // Nobody has been shown the second batch: the standby is as new as what anybody knows.
      expect(yield* rows).toBe(7);
      expect((yield* reader.summary).mark?.slot).toBe(2n);
      expect(yield* rows).toBe(16);
      yield* apply("standby", 2);
      expect(yield* rows).toBe(15);
    }),
  ));

test("a standby of another ledger is not read", () =>
  overTwo(
    ({ reader, apply, rows }) =>
      Effect.gen(function* () {
        yield* apply("primary", 1);
        yield* apply("standby", 1);
        yield* reader.summary;
        expect(yield* rows).toBe(8);
      }),
    { ...TEST_LEDGER, genesisHash: walletOf("another genesis") },
  ));

test("while the primary is away the standby tells its own slot, unless a later one was shown", () =>
  overTwo(({ reader, apply, rows, end }) =>
    Effect.gen(function* () {
      yield* apply("primary", 1);
      yield* apply("standby", 1);
      yield* reader.summary;
      yield* apply("primary", 2);
      yield* end;
      expect((yield* reader.summary).mark?.slot).toBe(1n);
      expect(yield* rows).toBe(7);
    }),
  ));

test("a standby that is behind what was shown does not stand in for the primary", () =>
  overTwo(({ reader, apply, end }) =>
    Effect.gen(function* () {
      yield* apply("primary", 1);
      yield* apply("standby", 1);
      yield* apply("primary", 2);
      yield* reader.summary;
      yield* end;
      expect(yield* Effect.flip(reader.summary)).toBe(AWAY);
    }),
  ));

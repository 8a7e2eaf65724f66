import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Effect } from "effect";
import fc from "fast-check";
import { addressFromBytes } from "../../../core/domain/address.ts";
import { TEST_DEPLOYMENT } from "../../arbitraries/test-ledger.ts";
import { everything } from "../../contracts/index-content.ts";
import { tmpdir } from "../../temporary-root.ts";
import { ESCROWS_PER_BATCH, numberedBatch } from "./numbered-batch.ts";
import { applyNumbered, TEST_LEDGER, uninterrupted, withStore } from "./test-store.ts";
import { runSeed } from "../../arbitraries/seeded-random.ts";

const folder = mkdtempSync(join(tmpdir(), "store-file-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const freshPath = () => join(folder, String(++files), "index.sqlite");

describe("the SQLite file", () => {
  test("keeps everything when closed, in one file, and is opened again", async () => {
    const path = freshPath();
    await Effect.runPromise(withStore(path, applyNumbered(3)));
    expect(readdirSync(join(path, "..")).sort()).toEqual(["index.sqlite", "log"]);
    expect(readdirSync(join(path, "..", "log"))).toEqual(["standing.sqlite"]);
    expect(await Effect.runPromise(withStore(path, everything))).toEqual(await uninterrupted(3));
  });

  test("can be open twice: what one writes the other reads, and neither writes over the other", async () => {
    const path = freshPath();
    const both = withStore(path, (one) =>
      withStore(path, (other) =>
        Effect.gen(function* () {
          yield* one.writer.apply(numberedBatch(1));
          yield* other.writer.apply(numberedBatch(2));
          const refusal = yield* Effect.flip(one.writer.apply(numberedBatch(2)));
          expect(refusal).toMatchObject({ _tag: "StoreUnavailable", retryable: true });
          yield* one.writer.apply(numberedBatch(3));
          return yield* everything(other);
        }),
      ),
    );
    expect(await Effect.runPromise(both)).toEqual(await uninterrupted(3));
  });

  test("refuses the file of another version, names the cure and leaves it alone", async () => {
    const path = freshPath();
    await Effect.runPromise(withStore(path, applyNumbered(1)));
    const db = new Database(path);
    db.run("PRAGMA user_version = 5");
    db.close();
    const before = await Bun.file(path).bytes();
    const refusal = await Effect.runPromise(Effect.flip(withStore(path, everything)));
    expect(refusal).toMatchObject({ _tag: "StoreTooNew", store: path, found: 5 });
    expect(refusal.message).toStartWith(
      `${path} has schema version 5; this version of the service knows version 4. Use the service that wrote it, or another store: another DATA_DIR`,
    );
    expect(await Bun.file(path).bytes()).toEqual(before);
  });

  test("refuses the file of another ledger or of other programs, and says what differs", async () => {
    const path = freshPath();
    await Effect.runPromise(withStore(path, applyNumbered(1)));
    const other = addressFromBytes(new Uint8Array(32).fill(250));
    const identities = [
      { ...TEST_LEDGER, genesisHash: other },
      { ...TEST_LEDGER, deployment: { ...TEST_DEPLOYMENT, custodyProgram: other } },
      { ...TEST_LEDGER, deployment: { ...TEST_DEPLOYMENT, attestorProgram: other } },
    ];
    const fields = ["genesis_hash", "custody_program", "attestor_program"] as const;
    for (const [at, identity] of identities.entries()) {
      const refusal = await Effect.runPromise(Effect.flip(withStore(path, everything, identity)));
      expect(refusal).toMatchObject({
        _tag: "StoreOfAnotherLedger",
        differences: [{ field: fields[at], configured: other }],
      });
      expect(refusal.message).toContain(path);
    }
    expect(await Effect.runPromise(withStore(path, everything))).toEqual(await uninterrupted(1));
  });

  test("refuses a file that is no database, and another program's database", async () => {
    const garbage = join(folder, "garbage.sqlite");
    writeFileSync(garbage, Buffer.alloc(8192, "no database "));
    const foreign = join(folder, "foreign.sqlite");
    const db = new Database(foreign);
    db.run("CREATE TABLE recipes (name TEXT)");
    db.close();
    for (const path of [garbage, foreign]) {
      const refusal = await Effect.runPromise(Effect.flip(withStore(path, everything)));
      expect(refusal).toMatchObject({ _tag: "StoreCorrupt", store: path });
      expect(refusal.message).toContain(path);
    }
    const after = new Database(foreign);
    expect(after.query("SELECT name FROM sqlite_schema").all()).toEqual([{ name: "recipes" }]);
    after.close();
  });

  test("a path that cannot be opened is a failure, not a crash", async () => {
    const refusal = await Effect.runPromise(Effect.flip(withStore(folder, everything)));
    expect(refusal).toMatchObject({ _tag: "StoreUnavailable", retryable: false });
  });

  test("locked by another process: writes fail as retryable, reads go on, and it recovers", async () => {
    const path = freshPath();
    const program = withStore(path, ({ reader, writer, log }) =>
      Effect.gen(function* () {
        yield* writer.apply(numberedBatch(1));
        const other = new Database(path);
        other.run("BEGIN IMMEDIATE");
        const failure = yield* Effect.flip(writer.apply(numberedBatch(2)));
        expect(failure).toMatchObject({ _tag: "StoreUnavailable", retryable: true });
        expect(yield* reader.escrows({}, 100, null)).toHaveLength(ESCROWS_PER_BATCH);
        other.run("ROLLBACK");
        other.close();
        yield* writer.apply(numberedBatch(2));
        return yield* everything({ reader, writer, log });
      }),
    );
    expect(await Effect.runPromise(program)).toEqual(await uninterrupted(2));
  });

  test("a damaged page found while serving is a lasting failure", async () => {
    const path = freshPath();
    await Effect.runPromise(withStore(path, applyNumbered(20)));
    const bytes = new Uint8Array(await Bun.file(path).arrayBuffer());
    const pageSize = new DataView(bytes.buffer).getUint16(16);
    bytes.fill(0xa5, pageSize);
    writeFileSync(path, bytes);
    const failure = await Effect.runPromise(Effect.flip(withStore(path, everything)));
    if (failure._tag === "StoreUnavailable") expect(failure.retryable).toBe(false);
    else expect(failure._tag).toBe("StoreCorrupt");
  });
});

/** Runs `write-until-killed.ts` and kills it after it has reported `acks` numbers. Returns the last one it reported. */
const killAfter = async (
  work: "apply" | "build",
  path: string,
  acks: number,
  last: number,
): Promise<number> => {
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dir, "write-until-killed.ts"), work, path, String(last)],
    { stdout: "pipe", stderr: "inherit" },
  );
  let reported = 0;
  let pending = "";
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    const lines = (pending + chunk).split("\n");
    pending = lines.pop() ?? "";
    reported = Number(lines.at(-1) ?? reported);
    if (lines.length > 0 && --acks <= 0) child.kill("SIGKILL");
  }
  await child.exited;
  return reported;
};

const expectWhole = (path: string): void => {
  const db = new Database(path);
  expect(db.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  db.close();
};

/** Some processes run one after the other, each as slow as the machine. */
const LONG_MS = 240_000;

describe("killed at any moment", () => {
  test(
    "while it applies, it holds whole batches, and the next run ends where no kill would",
    async () => {
      const path = freshPath();
      const last = 60;
      const seed = runSeed();
      const acks = fc.sample(fc.integer({ min: 1, max: 10 }), { seed, numRuns: 2 });
      for (const [round, ack] of acks.entries()) {
        const reported = await killAfter("apply", path, ack, last);
        const rows = await Effect.runPromise(withStore(path, everything));
        const number = Number(rows.summary.mark?.slot ?? 0n);
        expect(number, `seed ${seed}, round ${round}`).toBeGreaterThanOrEqual(reported);
        expect(rows, `seed ${seed}, round ${round}`).toEqual(await uninterrupted(number));
      }
      const { summary } = await Effect.runPromise(withStore(path, everything));
      const next = Number(summary.mark?.slot ?? 0n) + 1;
      await Effect.runPromise(withStore(path, applyNumbered(last, next)));
      expect(await Effect.runPromise(withStore(path, everything))).toEqual(
        await uninterrupted(last),
      );
      expectWhole(path);
    },
    LONG_MS,
  );

  test(
    "while it builds, it holds nothing or everything, and the next build ends where no kill would",
    async () => {
      const path = freshPath();
      const last = 40;
      const empty = await Effect.runPromise(withStore(path, everything));
      const seed = runSeed();
      // The last kill comes while the tables are filled and shown, or just after.
      const acks = [...fc.sample(fc.integer({ min: 1, max: last }), { seed, numRuns: 2 }), last];
      for (const ack of acks) {
        await killAfter("build", path, ack, last);
        const rows = await Effect.runPromise(withStore(path, everything));
        expect(rows, `seed ${seed}`).toEqual(
          rows.summary.mark === null ? empty : await uninterrupted(last),
        );
        expect(existsSync(`${path}-build`)).toBe(false);
      }
      await killAfter("build", path, last + 2, last);
      expect(await Effect.runPromise(withStore(path, everything))).toEqual(
        await uninterrupted(last),
      );
      expectWhole(path);
    },
    LONG_MS,
  );
});

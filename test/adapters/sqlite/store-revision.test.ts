import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Effect } from "effect";
import { tmpdir } from "../../temporary-root.ts";
import { numberedBatch } from "./numbered-batch.ts";
import { withStore } from "./test-store.ts";

test("what another one writes to the same file changes the revision, and asking does not", async () => {
  const folder = mkdtempSync(join(tmpdir(), "store-revision-"));
  const path = join(folder, "index.sqlite");
  const program = withStore(path, (one) =>
    withStore(path, (other) =>
      Effect.gen(function* () {
        const revision = Effect.map(one.reader.summary, (summary) => summary.revision);
        const first = yield* revision;
        expect(yield* revision).toBe(first);
        yield* other.writer.apply(numberedBatch(1));
        const second = yield* revision;
        expect(second).not.toBe(first);
        expect(yield* revision).toBe(second);
        yield* one.writer.apply(numberedBatch(2));
        expect(yield* revision).not.toBe(second);
      }),
    ),
  );
  await Effect.runPromise(program);
  rmSync(folder, { recursive: true });
});

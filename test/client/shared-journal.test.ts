import { afterAll, beforeAll, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { tmpdir } from "../temporary-root.ts";
import { JOURNAL_PROGRAM, tryJournal } from "./package/shared-journal.ts";
import { runSeed } from "../arbitraries/seeded-random.ts";

const SEED = runSeed();
const RUNS = Number(process.env["JOURNAL_RUNS"] ?? 3);
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "shared-journal-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

for (let run = 0; run < RUNS; run++)
  test(
    `processes with one journal stay within the day together, one of them killed (seed ${SEED + run})`,
    () =>
      tryJournal(folder, [process.execPath], JOURNAL_PROGRAM, `payments-${run}.jsonl`, SEED + run),
    60_000,
  );

import { afterAll, expect, test } from "bun:test";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { Effect, Layer, Logger } from "effect";
import { backfillCheckpointFile } from "../../../adapters/files/operator-files.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { type BackfillCheckpoint, BackfillCheckpoints } from "../../../ports/index/index-writer.ts";
import { Ledger } from "../../../ports/ledger/ledger.ts";
import { tmpdir } from "../../temporary-root.ts";

const folder = await mkdtemp(join(tmpdir(), "backfill-checkpoint-"));
afterAll(() => rm(folder, { recursive: true, force: true }));
const path = join(folder, "below", "checkpoint.json");

/** Runs work with the checkpoint in that file, of the ledger with this genesis hash. */
const within = <A>(
  genesisHash: string,
  work: (kept: typeof BackfillCheckpoints.Service) => Effect.Effect<A>,
): Promise<A> => {
  const ledger = Layer.mock(Ledger, { genesisHash: Effect.succeed(genesisHash) });
  const layer = backfillCheckpointFile(path, LOCAL_DEPLOYMENT).pipe(Layer.provide(ledger));
  const kept = Logger.layer([Logger.make(({ message }) => lines.push(JSON.stringify(message)))]);
  return Effect.runPromise(
    Effect.flatMap(BackfillCheckpoints, work).pipe(Effect.provide([layer, kept])),
  );
};
/** What was logged. */
const lines: Array<string> = [];
const load = (genesisHash = "one") => within(genesisHash, (kept) => kept.load);
const CHECKPOINT: BackfillCheckpoint = { way: "history", cursor: "signature", isDone: false };

test("a checkpoint is kept for its ledger alone", async () => {
  expect(await load()).toBeNull();
  await within("one", (kept) => kept.save(CHECKPOINT));
  expect(await load()).toEqual(CHECKPOINT);
  expect(await load("another")).toBeNull();
});

test("a file that holds no checkpoint is as good as none", async () => {
  await within("one", (kept) => kept.save(CHECKPOINT));
  const whole = (await Bun.file(path).json()) as object;
  for (const changed of [
    { ...whole, way: "sideways" },
    { ...whole, cursor: 7 },
    { ...whole, isDone: "no" },
    { ...whole, ledger: null },
    null,
  ]) {
    await Bun.write(path, JSON.stringify(changed));
    expect(await load()).toBeNull();
  }
  await Bun.write(path, "{");
  expect(await load()).toBeNull();
});

test("what keeps the file from being read or written is told with path, cause and cure", async () => {
  await rm(path, { recursive: true, force: true });
  await mkdir(path, { recursive: true });
  lines.length = 0;
  expect(await load()).toBeNull();
  await within("one", (kept) => kept.save(CHECKPOINT));
  expect(lines).toHaveLength(2);
  for (const line of lines) {
    expect(line).toContain(`${path} cannot be used`);
    expect(line).toContain("EISDIR");
    expect(line).toContain("move it away");
  }
});

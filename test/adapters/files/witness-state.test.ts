import { afterAll, expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect } from "effect";
import { witnessStateFiles } from "../../../adapters/files/witness-state.ts";
import { WitnessState } from "../../../ports/log/witness-state.ts";
import { cosignedOf, witnessStateContract } from "../../contracts/witness-state.ts";

const root = mkdtempSync(join(tmpdir(), "witness-state-"));
afterAll(() => rm(root, { recursive: true, force: true }));
let made = 0;
const newFolder = (): string => join(root, String((made += 1)), "witness");

const ORIGIN = "log.example/log/0123456789abcdef/0";

const using = <A, F>(
  folder: string,
  use: (state: WitnessState["Service"]) => Effect.Effect<A, F>,
) => Effect.runPromise(Effect.provide(WitnessState.use(use), witnessStateFiles(folder)));

witnessStateContract("witness state in files", () => witnessStateFiles(newFolder()));

test("another process reads what was set", async () => {
  const folder = newFolder();
  await using(folder, (state) => state.compareAndSet(ORIGIN, 0, cosignedOf(300)));
  expect(await using(folder, (state) => state.read(ORIGIN))).toEqual(cosignedOf(300));
});

test("a draft that a killed process left behind changes nothing, whatever of it was written", async () => {
  const folder = newFolder();
  await using(folder, (state) => state.compareAndSet(ORIGIN, 0, cosignedOf(300)));
  const [name = ""] = await readdir(folder);
  const text = await readFile(join(folder, name), "utf8");
  for (const length of [0, 1, text.length >> 1, text.length]) {
    await writeFile(join(folder, `${name}.new`), text.slice(0, length));
    expect(await using(folder, (state) => state.read(ORIGIN))).toEqual(cosignedOf(300));
  }
  expect(await using(folder, (state) => state.compareAndSet(ORIGIN, 300, cosignedOf(301)))).toBe(
    true,
  );
});

test("a damaged file fails: what was cosigned is unknown, and nothing begins anew", async () => {
  const folder = newFolder();
  await using(folder, (state) => state.compareAndSet(ORIGIN, 0, cosignedOf(300)));
  const [name = ""] = await readdir(folder);
  const path = join(folder, name);
  const text = await readFile(path, "utf8");
  for (const damaged of [
    "",
    text.slice(0, -1),
    text.replace("\n300\n", "\n299\n"),
    text.replace("log.example", "log.another"),
    `${text}\n`,
  ]) {
    await writeFile(path, damaged);
    const read = using(folder, (state) => Effect.flip(state.read(ORIGIN)));
    expect(await read).toMatchObject({ _tag: "WitnessStateUnavailable" });
    const set = using(folder, (state) =>
      Effect.flip(state.compareAndSet(ORIGIN, 0, cosignedOf(1))),
    );
    expect(await set).toMatchObject({ _tag: "WitnessStateUnavailable" });
  }
});

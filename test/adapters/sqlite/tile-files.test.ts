import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Effect, Exit } from "effect";
import { tileFiles } from "../../../adapters/sqlite/log/tile-files.ts";
import { tmpdir } from "../../temporary-root.ts";

const root = mkdtempSync(join(tmpdir(), "tile-files-"));
afterAll(() => rmSync(root, { recursive: true }));
const folder = join(root, "log");
mkdirSync(folder);
const tiles = tileFiles(folder);
const bytes = new Uint8Array(8192).fill(7);

const NO_FULL_TILES = [
  "",
  "tile",
  "0/tile/0/000.p/17",
  "0/tile/0/x001",
  "0/tile/0/1",
  "0/tile/64/000",
  "0/tile/00/000",
  "0/tile/entries/../entries/000",
  "0/tile/0/../../../secret",
  "../secret",
  "standing.sqlite",
  "/tile/0/000",
  "0/tile/0/000\0",
  "0/tile/0/000\n",
  "0/tile/names/000",
];

test.each(NO_FULL_TILES)(
  "%j is no path of a full tile: nothing is read or kept there",
  async (path) => {
    writeFileSync(join(root, "secret"), "secret");
    expect(await Effect.runPromise(tiles.read(path))).toBeNull();
    expect(Exit.isFailure(await Effect.runPromiseExit(tiles.keep([{ path, bytes }])))).toBe(true);
    expect(readdirSync(folder)).toEqual([]);
  },
);

test("a tile is read whole under its path, and no draft of it stays", async () => {
  const path = "0/tile/63/x001/x234/067";
  await Effect.runPromise(tiles.keep([{ path, bytes }]));
  expect(await Effect.runPromise(tiles.read(path))).toEqual(bytes);
  expect(readdirSync(join(folder, "0/tile/63/x001/x234"))).toEqual(["067"]);
});

test("a draft that an interrupted writing has left is written over", async () => {
  const path = "0/tile/1/000";
  mkdirSync(join(folder, "0/tile/1"), { recursive: true });
  writeFileSync(join(folder, `${path}.new`), "half");
  expect(await Effect.runPromise(tiles.read(path))).toBeNull();
  await Effect.runPromise(tiles.keep([{ path, bytes }]));
  expect(await Effect.runPromise(tiles.read(path))).toEqual(bytes);
  expect(readdirSync(join(folder, "0/tile/1"))).toEqual(["000"]);
});

test("a disk that takes no tile is a failure that can pass, and says why", async () => {
  const path = "0/tile/2/000";
  writeFileSync(join(folder, "0/tile/2"), "a file where a folder has to be");
  expect(await Effect.runPromise(Effect.flip(tiles.keep([{ path, bytes }])))).toMatchObject({
    _tag: "StoreUnavailable",
    retryable: true,
    fault: { problem: "a file stands where a folder belongs, or a folder where a file does" },
  });
});

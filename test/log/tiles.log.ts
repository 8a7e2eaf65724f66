import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { sha256Bun } from "../../adapters/bun/sha256.ts";
import { provideSha256 } from "../../core/domain/sha256.ts";
import { TileBuilder } from "../../core/log/tiles/tile-builder.ts";
import { type Tile, tilePath } from "../../core/log/tiles/tile-path.ts";
import { fullTilesSince, partialTiles } from "../../core/log/tiles/tile-plan.ts";
import { parseHashes, printHash } from "../../core/log/text-values.ts";
import { verifyConsistency } from "../../core/log/tree/consistency-proof.ts";
import { verifyInclusion } from "../../core/log/tree/inclusion-proof.ts";
import type { TreeHead } from "../../core/log/tree/tree-edge.ts";
import { leafHash } from "../../core/log/tree/tree-hash.ts";
import { seededRandom } from "../arbitraries/seeded-random.ts";
import { tmpdir } from "../temporary-root.ts";
import { leafAt } from "./built-log.ts";
import { fromRun, startOracle } from "./oracle.ts";
import { drawSize } from "./sizes.ts";

provideSha256(sha256Bun);

const SEED = fromRun("LOG_SEED") % 256;
/** Three levels of tiles. */
const LEAVES = 66_200;
const oracle = startOracle();
const folder = mkdtempSync(join(tmpdir(), "log-tiles-"));
const random = seededRandom(fromRun("LOG_SEED"));

const EDGES = [1, 2, 255, 256, 257, 512, 65_535, 65_536, 65_537, LEAVES];
/** The sizes at which the log is written and read, ascending. */
const sizes = [
  ...new Set([...EDGES, ...Array.from({ length: 12 }, () => drawSize(random, LEAVES))]),
].sort((a, b) => a - b);
const heads: Array<TreeHead> = [];
/** What was written from each size to the next. */
const written: Array<ReadonlyMap<string, Uint8Array>> = [];

const writeLog = (): void => {
  const all = new Map<string, Uint8Array>();
  for (const [i, size] of sizes.entries()) {
    const since = new Map<string, Uint8Array>();
    const sink = (tile: Tile, bytes: Uint8Array): void => {
      since.set(tilePath(tile), bytes);
      const path = join(folder, tilePath(tile));
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, bytes);
    };
    const read = (tile: Tile) => all.get(tilePath(tile)) ?? new Uint8Array();
    // Each time a new builder, which goes on from what was written.
    const builder = new TileBuilder(sink, { size: sizes[i - 1] ?? 0, read });
    while (builder.size < size) builder.append(leafAt(builder.size, SEED));
    builder.writePartials();
    for (const [path, bytes] of since) all.set(path, bytes);
    written.push(since);
    heads.push(builder.head());
  }
};

beforeAll(async () => {
  writeLog();
  await oracle.ask([{ op: "grow", count: LEAVES, seed: SEED }]);
});
afterAll(async () => {
  await oracle.stop();
  rmSync(folder, { recursive: true, force: true });
});

const isOfHashes = ({ level }: Tile): boolean => level !== "entries";

test("paths, widths and bytes of the tiles are those of NewTiles", async () => {
  const answers = await oracle.ask(
    sizes.map((size, i) => ({ op: "tiles", old: sizes[i - 1] ?? 0, size })),
  );
  for (const [i, size] of sizes.entries()) {
    const old = sizes[i - 1] ?? 0;
    // Go leaves out the partial tiles that the older tree has too.
    const known = new Set(partialTiles(old).map(tilePath));
    const planned = [...fullTilesSince(old, size), ...partialTiles(size)]
      .filter(isOfHashes)
      .map(tilePath)
      .filter((path) => !known.has(path));
    const own = planned.map((path) => ({
      path,
      sha256: createHash("sha256")
        .update(written[i]?.get(path) ?? "")
        .digest("hex"),
    }));
    const byPath = (a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : 1);
    expect([...(answers[i]?.tiles ?? [])].sort(byPath)).toEqual(own.sort(byPath));
  }
});

test("Go reads proofs from the written tiles, which verify here", async () => {
  for (const [i, head] of heads.entries()) {
    const { size, root } = head;
    const indices = [0, size - 1, ...Array.from({ length: 20 }, () => Math.floor(random() * size))];
    const common = { op: "from-tiles", folder, size, root: printHash(root) };
    const older = heads.slice(0, i);
    const answers = await oracle.ask([
      ...indices.map((index) => ({ ...common, index })),
      ...older.map((old) => ({ ...common, old: old.size })),
    ]);
    expect(answers.flatMap(({ fault }) => (fault === undefined ? [] : [fault]))).toEqual([]);
    const proofs = answers.map(({ proof }) => parseHashes(proof ?? []) ?? []);
    const verdicts = [
      ...indices.map((index, at) =>
        verifyInclusion({ index, leafHash: leafHash(leafAt(index, SEED)), head }, proofs[at] ?? []),
      ),
      ...older.map((old, at) => verifyConsistency(old, head, proofs[indices.length + at] ?? [])),
    ];
    expect(verdicts).toEqual(answers.map(() => true));
  }
});

test("Go refuses the tiles under another root", async () => {
  const answers = await oracle.ask(
    heads.map(({ size, root }) => ({
      op: "from-tiles",
      folder,
      size,
      root: printHash(root.with(0, (root[0] ?? 0) ^ 1)),
      index: 0,
    })),
  );
  // The tree of one leaf needs no tile: its proof has no hashes.
  for (const [i, { fault }] of answers.entries())
    if (sizes[i] !== 1) expect(fault).toContain("downloaded inconsistent tile");
});

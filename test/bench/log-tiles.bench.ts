import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir as diskTmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Effect } from "effect";
import { sha256Bun } from "../../adapters/bun/sha256.ts";
import { tileFiles } from "../../adapters/sqlite/log/tile-files.ts";
import { provideSha256, sha256 } from "../../core/domain/sha256.ts";
import { TileBuilder, type TileSink } from "../../core/log/tiles/tile-builder.ts";
import { tilePath } from "../../core/log/tiles/tile-path.ts";
import type { FullTile } from "../../ports/log/log-store.ts";
import { tmpdir } from "../temporary-root.ts";
import { report, sizeOf, times } from "./support/report.ts";

// The service sets the same function when it starts.
provideSha256(sha256Bun);

const LEAVES = sizeOf({ quick: 100_000, long: 1_000_000 });
const ROUNDS = sizeOf({ quick: 3, long: 7 });
/** Leaves of the way that waits for the disk, and how many of them a service reads and keeps at once. */
const SYNCED_LEAVES = sizeOf({ quick: 20_000, long: 200_000 });
const KEPT_AT_ONCE = 4096;
const GOAL = 1_000_000;

const leaf = new Uint8Array(66).fill(7);
const view = new DataView(leaf.buffer);
/** The leaf of a number, in one buffer for all: a builder keeps none. */
const leafAt = (index: number): Uint8Array => {
  view.setUint32(2, index);
  return leaf;
};

const build = (sink: TileSink): void => {
  const builder = new TileBuilder(sink);
  for (let index = 0; index < LEAVES; index++) builder.append(leafAt(index));
  builder.head();
};

/** Writes full tiles as files. The first of a folder makes it; it has up to 1,000. */
const writeTo =
  (folder: string): TileSink =>
  (tile, bytes) => {
    const path = join(folder, tilePath(tile));
    if (tile.index % 1000 === 0) mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
  };

/** Builds a log and keeps its tiles as the service does on SQLite: each file is synced before it has its name. */
const buildDurably = async (folder: string): Promise<void> => {
  const { keep } = tileFiles(folder);
  const full: Array<FullTile> = [];
  const builder = new TileBuilder((tile, bytes) => {
    full.push({ path: `0/${tilePath(tile)}`, bytes });
  });
  for (let index = 0; index < SYNCED_LEAVES; index++) {
    builder.append(leafAt(index));
    if (builder.size % KEPT_AT_ONCE === 0) await Effect.runPromise(keep(full.splice(0)));
  }
};

/** As many files of the same sizes, and nothing else. */
const writeFiles = (folder: string): void => {
  const write = writeTo(folder);
  const [hashes, entries] = [new Uint8Array(256 * 32), new Uint8Array(256 * 68)];
  for (let index = 0; index < Math.floor(LEAVES / 256); index++) {
    write({ level: "entries", index, width: 256 }, entries);
    write({ level: 0, index, width: 256 }, hashes);
  }
};

type Way = {
  /** Where its folder is made: in memory where the system has that, or on the disk. */
  readonly root: string;
  readonly leaves: number;
  readonly run: (folder: string) => void | Promise<void>;
};
const hashAll = (): void => {
  for (let index = 0; index < LEAVES; index++) sha256(leafAt(index));
};
const [memory, disk] = [tmpdir(), diskTmpdir()];
const WAYS = {
  plain: { root: memory, leaves: LEAVES, run: hashAll },
  tiles: { root: memory, leaves: LEAVES, run: () => build(() => undefined) },
  files: { root: memory, leaves: LEAVES, run: (folder) => build(writeTo(folder)) },
  disk: { root: disk, leaves: LEAVES, run: (folder) => build(writeTo(folder)) },
  bare: { root: disk, leaves: LEAVES, run: writeFiles },
  durable: { root: disk, leaves: SYNCED_LEAVES, run: buildDurably },
} satisfies Readonly<Record<string, Way>>;

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

type Taken = { readonly seconds: number; readonly cpuSeconds: number };
const taken: Record<string, Array<Taken>> = {};
// The ways take turns, so that other load affects all of them. The first round warms up.
for (let round = 0; round <= ROUNDS; round++)
  for (const [name, { root, run }] of Object.entries<Way>(WAYS)) {
    const folder = mkdtempSync(join(root, "settlement-bench-"));
    const [startMs, cpu] = [performance.now(), process.cpuUsage()];
    await run(folder);
    const { user, system } = process.cpuUsage(cpu);
    const seconds = (performance.now() - startMs) / 1000;
    rmSync(folder, { recursive: true });
    if (round > 0) (taken[name] ??= []).push({ seconds, cpuSeconds: (user + system) / 1e6 });
  }

const rateOf = (name: keyof typeof WAYS) => {
  const of = (part: keyof Taken) =>
    WAYS[name].leaves / median((taken[name] ?? []).map((one) => one[part]));
  return { perSecond: of("seconds"), perCpuSecond: of("cpuSeconds") };
};
const tell = (
  way: keyof typeof WAYS,
  name: string,
  yardstick: keyof typeof WAYS | null,
  goal: number | null = null,
): void => {
  const { perSecond, perCpuSecond } = rateOf(way);
  const cpu = `${Math.round(perCpuSecond / 1000)}k/s of CPU`;
  report({
    name,
    goal: goal === null ? "" : `>= ${goal}/s`,
    figure: perSecond,
    unit: "/s",
    ratio:
      yardstick === null
        ? cpu
        : `${times(perSecond, rateOf(yardstick).perSecond)} ${yardstick}; ${cpu}`,
    pass: goal === null ? null : perSecond >= goal,
  });
};
tell("plain", "plain SHA-256 of 66 bytes", null);
tell("tiles", `${LEAVES} leaves hashed and tiled`, "plain", GOAL);
tell("files", "the same, written to files in memory", "plain", GOAL);
tell("bare", "such files alone on the disk, in leaves", null);
tell("disk", "leaves hashed, tiled, written to the disk", "bare");
tell("durable", "the same, each file synced", "bare");

import { closeSync, fsyncSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { sha256Bun } from "../../adapters/bun/sha256.ts";
import { provideSha256, sha256 } from "../../core/domain/sha256.ts";
import { headOf } from "../../core/log/leaf/event-chain.ts";
import { eventLeafOf } from "../../core/log/leaf/event-leaf.ts";
import { TileBuilder, type TileSink } from "../../core/log/tiles/tile-builder.ts";
import { tilePath } from "../../core/log/tiles/tile-path.ts";
import { labelled } from "../simulation/world-escrow.ts";
import { report, sizeOf, times } from "./support/report.ts";

// The service sets the same function when it starts.
provideSha256(sha256Bun);

const COUNT = sizeOf({ quick: 100_000, long: 1_000_000 });
const ROUNDS = sizeOf({ quick: 2, long: 3 });
const GOAL = 1_000_000;
const [escrow, account] = [labelled("escrow"), labelled("account")];

const leaves = Array.from({ length: COUNT }, (_, i) => {
  const leaf = eventLeafOf("Pending", escrow, account);
  new DataView(leaf.buffer).setUint32(2, i);
  return leaf;
});

/** Leaves a second, in the best of the rounds: others use this machine too. */
const perSecond = (work: () => void): number => {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    work();
    best = Math.min(best, performance.now() - start);
  }
  return Math.round((COUNT / best) * 1000);
};

const build = (sink: TileSink): void => {
  const builder = new TileBuilder(sink);
  for (const leaf of leaves) builder.append(leaf);
  builder.writePartials();
  builder.head();
};

const folder = mkdtempSync(join(tmpdir(), "settlement-bench-"));
const known = new Set<string>();
/** Writes a tile to its file, and waits for the disk if asked to. */
const toFiles =
  (isSynced: boolean): TileSink =>
  (tile, bytes) => {
    const file = join(folder, tilePath(tile));
    const parent = dirname(file);
    if (!known.has(parent)) mkdirSync(parent, { recursive: true });
    known.add(parent);
    const descriptor = openSync(file, "w");
    writeSync(descriptor, bytes);
    if (isSynced) fsyncSync(descriptor);
    closeSync(descriptor);
  };

const plain = perSecond(() => {
  for (const leaf of leaves) sha256(leaf);
});
const tell = (name: string, figure: number, goal: number | null): void =>
  report({
    name,
    goal: goal === null ? "-" : `>= ${goal.toLocaleString("en-US")}/s`,
    figure,
    unit: "leaves/s",
    ratio: `${times(figure, plain)} plain SHA-256`,
    pass: goal === null ? null : figure >= goal,
  });

tell("SHA-256 of 66 bytes, yardstick", plain, null);
tell(
  "leaves chained",
  perSecond(() => void headOf(leaves)),
  null,
);
tell(
  "leaves hashed and tiled in memory",
  perSecond(() => build(() => {})),
  null,
);
tell(
  "leaves hashed, tiled and written",
  perSecond(() => build(toFiles(false))),
  GOAL,
);
tell(
  "leaves hashed, tiled, written and synced",
  perSecond(() => build(toFiles(true))),
  null,
);
rmSync(folder, { recursive: true });

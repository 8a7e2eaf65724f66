import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Exit } from "effect";
import { ChainNode } from "../world/chain-node.ts";
import { openIndexOfNode } from "../simulation/index-of-node.ts";
import { serveNode } from "../simulation/serve-node.ts";
import { refundedOf, worldEscrow } from "../simulation/world-escrow.ts";
import { worldOf } from "../simulation/world.ts";
import { report, sizeOf, times } from "./support/report.ts";

const SIZES = sizeOf({ quick: [2_000, 20_000], long: [10_000, 100_000, 1_000_000] });
/** Synced first and not reported, so that the first reported size does not pay for compilation. */
const WARM_UP = 1_000;
const CHANGES = 100;
const ROUNDS = 5;
const folder = mkdtempSync(join(tmpdir(), "settlement-bench-"));

const taken: Array<number> = [];
for (const rows of [WARM_UP, ...SIZES]) {
  const path = join(folder, `${rows}.sqlite`);
  const node = worldOf(rows);
  using served = serveNode(new ChainNode(node).answer);
  const index = await openIndexOfNode({ url: served.url, path });
  if (Exit.isFailure(await index.sync())) throw new Error("no first sync");
  const ms: Array<number> = [];
  for (let round = 0; round < ROUNDS; round++) {
    node.slot += 200n;
    const first = Math.floor((rows / ROUNDS) * round);
    for (let i = 0; i < CHANGES; i++)
      node.putEscrow(refundedOf(worldEscrow(Math.ceil(first / 4) * 4 + i * 4)));
    node.slot += 1n;
    const startMs = performance.now();
    const exit = await index.sync();
    if (Exit.isFailure(exit) || exit.value.mode !== "incremental") throw new Error("no such sync");
    ms.push(performance.now() - startMs);
  }
  await index.close();
  const median = ms.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? Number.NaN;
  if (rows === WARM_UP) continue;
  taken.push(median);
  const smallest = taken[0] ?? median;
  report({
    name: `sync of ${CHANGES} changes at ${rows} escrows`,
    goal: taken.length === 1 ? "" : `<= 2x that at ${SIZES[0]}`,
    figure: median,
    unit: "ms",
    ratio: taken.length === 1 ? "" : `${times(median, smallest)} that at ${SIZES[0]}`,
    pass: taken.length === 1 ? null : median <= 2 * smallest,
  });
}
rmSync(folder, { recursive: true });

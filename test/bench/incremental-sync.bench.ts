import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect, Exit } from "effect";
import { escrowIndexSqlite } from "../../adapters/sqlite/escrow-index.ts";
import { eventsOf } from "../../core/domain/index/settlement-event.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { EscrowIndex } from "../../ports/escrow-index.ts";
import { openIndexOfNode } from "../simulation/index-of-node.ts";
import { serveNode } from "../simulation/serve-node.ts";
import { refundedOf, walletOf, worldEscrow, WORLD_TIME } from "../simulation/world-escrow.ts";
import { WorldNode } from "../simulation/world-node.ts";
import { report, sizeOf, times } from "./support/report.ts";

const SIZES = sizeOf({ quick: [2_000, 20_000], long: [10_000, 100_000, 1_000_000] });
/** Synced first and not reported, so that the first reported size does not pay for compilation. */
const WARM_UP = 1_000;
const CHANGES = 100;
const ROUNDS = 5;
const BATCH = 10_000;
const folder = mkdtempSync(join(tmpdir(), "settlement-bench-"));

/** Fills a store with this many escrows, as a snapshot at a slot would. */
const fill = (path: string, rows: number, slot: bigint) =>
  EscrowIndex.use((index) =>
    Effect.gen(function* () {
      for (let first = 0; first < rows; first += BATCH) {
        const escrows = Array.from({ length: Math.min(BATCH, rows - first) }, (_, i) => ({
          row: worldEscrow(first + i),
          slot,
        }));
        const events = escrows.flatMap(({ row }) => eventsOf(row));
        yield* index.apply({ escrows, merchants: [], events, references: [], checkpoint: null });
      }
      const checkpoint = { slot, ledgerTime: WORLD_TIME, atMs: Date.now() };
      yield* index.apply({ escrows: [], merchants: [], events: [], references: [], checkpoint });
    }),
  ).pipe(
    Effect.provide(
      escrowIndexSqlite({ path, genesisHash: walletOf("genesis"), deployment: LOCAL_DEPLOYMENT }),
    ),
  );

const taken: Array<number> = [];
for (const rows of [WARM_UP, ...SIZES]) {
  const path = join(folder, `${rows}.sqlite`);
  const node = new WorldNode();
  node.slot = 10_000;
  await Effect.runPromise(fill(path, rows, BigInt(node.slot)));
  using served = serveNode(({ method, params }) => node.answer(method, params));
  const index = await openIndexOfNode({ url: served.url, path });
  const ms: Array<number> = [];
  for (let round = 0; round < ROUNDS; round++) {
    node.slot += 200;
    const first = Math.floor((rows / ROUNDS) * round);
    for (let i = 0; i < CHANGES; i++)
      node.putEscrow(refundedOf(worldEscrow(Math.ceil(first / 4) * 4 + i * 4)));
    node.slot += 1;
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

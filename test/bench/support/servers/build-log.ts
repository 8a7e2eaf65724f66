import { join } from "node:path";
import { Effect } from "effect";
import { sha256Bun } from "../../../../adapters/bun/sha256.ts";
import { indexSqlite } from "../../../../adapters/sqlite/index-store.ts";
import { hash32FromBytes } from "../../../../core/domain/hash32.ts";
import { provideSha256 } from "../../../../core/domain/sha256.ts";
import { checkpointText } from "../../../../core/log/checkpoint/checkpoint.ts";
import { printLogOrigin } from "../../../../core/log/checkpoint/log-origin.ts";
import { networkIdOf, networkLeaf } from "../../../../core/log/leaf/event-leaf.ts";
import { printSignedNote } from "../../../../core/log/notes/signed-note.ts";
import { TileBuilder } from "../../../../core/log/tiles/tile-builder.ts";
import { tilePath } from "../../../../core/log/tiles/tile-path.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { printLogStanding } from "../../../../core/use-cases/log/log-standing.ts";
import { type FullTile, LogStore } from "../../../../ports/log/log-store.ts";
import { walletOf } from "../../../simulation/world-escrow.ts";
import { settledEscrow } from "../settled-world.ts";
import { built, rowOf } from "../store-work.ts";

// Run as a process: builds the index of argv[3] settled escrows and the published log of their events in the data
// directory argv[2], and prints a line. Nobody looks at the checkpoint's signature.
const [dataDir = "", escrows = ""] = process.argv.slice(2);
provideSha256(sha256Bun);
/** Leaves that are read, and tiles that are kept, at once. */
const AT_ONCE = 65_536;
const leaf0 = networkLeaf(walletOf("genesis"), LOCAL_DEPLOYMENT.custodyProgram);

const work = Effect.gen(function* () {
  yield* built(Number(escrows), (number) => rowOf(number, settledEscrow(number)));
  const log = yield* LogStore;
  const full: Array<FullTile> = [];
  const builder = new TileBuilder((tile, bytes) => {
    full.push({ path: `0/${tilePath(tile)}`, bytes });
  });
  builder.append(leaf0);
  const events = 2 * Number(escrows);
  while (builder.size <= events) {
    const leaves = yield* log.leaves(BigInt(builder.size), AT_ONCE);
    if (leaves.length === 0) throw new Error(`the index has no event ${builder.size}`);
    for (const leaf of leaves) builder.append(leaf);
    yield* log.keepTiles(full.splice(0));
  }
  const { size, root } = builder.head();
  const origin = printLogOrigin({
    name: "bench.example",
    networkId: networkIdOf(leaf0),
    generation: 0,
  });
  const text = checkpointText({ origin, size, root });
  const signatures = [{ name: origin, id: "00000001", signature: new Uint8Array(64).fill(3) }];
  yield* log.replaceStanding(
    null,
    printLogStanding({
      signed: { origin, size, root: hash32FromBytes(root) },
      publicKey: hash32FromBytes(new Uint8Array(32).fill(9)),
      published: printSignedNote({ text, signatures }),
      ended: null,
      predecessors: [],
    }),
  );
});
const store = indexSqlite({
  path: join(dataDir, "index.sqlite"),
  logFolder: join(dataDir, "log"),
  genesisHash: walletOf("genesis"),
  deployment: LOCAL_DEPLOYMENT,
});
await Effect.runPromise(Effect.provide(work, store));
process.stdout.write("built\n");

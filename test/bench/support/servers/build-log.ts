import { join } from "node:path";
import { Effect } from "effect";
import { sha256Bun } from "../../../../adapters/bun/sha256.ts";
import { ed25519Key } from "../../../../adapters/signer/ed25519-key.ts";
import { indexSqlite } from "../../../../adapters/sqlite/index-store.ts";
import { hash32FromBytes } from "../../../../core/domain/hash32.ts";
import { provideSha256 } from "../../../../core/domain/sha256.ts";
import { checkpointText } from "../../../../core/log/checkpoint/checkpoint.ts";
import { printLogOrigin } from "../../../../core/log/checkpoint/log-origin.ts";
import { networkIdOf, networkLeaf } from "../../../../core/log/leaf/event-leaf.ts";
import { LeafTree } from "../../../../core/log/leaf/leaf-tree.ts";
import { verifierKey } from "../../../../core/log/notes/verifier-key.ts";
import { noteMessage } from "../../../../core/log/notes/verify-note.ts";
import { noEvents } from "../../../../core/log/tree/frontier.ts";
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
// directory argv[2], and prints the frontier that the ledger has then, in base64. The log's key has the seed 0x09 32 times.
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
  const tree = new LeafTree(noEvents(leaf0));
  const events = 2 * Number(escrows);
  while (builder.size <= events) {
    const leaves = yield* log.leaves(BigInt(builder.size), AT_ONCE);
    if (leaves.length === 0) throw new Error(`the index has no event ${builder.size}`);
    for (const leaf of leaves) {
      tree.add(BigInt(builder.size), leaf);
      builder.append(leaf);
    }
    yield* log.keepTiles(full.splice(0));
  }
  const { size, root } = builder.head();
  const origin = printLogOrigin({
    name: "bench.example",
    networkId: networkIdOf(leaf0),
    generation: 0,
  });
  const text = checkpointText({ origin, size, root });
  const { publicKey, sign } = ed25519Key(new Uint8Array(32).fill(9));
  const { id } = verifierKey(origin, "ed25519", publicKey);
  const signatures = [{ name: origin, id, signature: sign(noteMessage(text)) }];
  yield* log.replaceStanding(
    null,
    printLogStanding({
      signed: { origin, size, root: hash32FromBytes(root) },
      publicKey: hash32FromBytes(publicKey),
      published: printSignedNote({ text, signatures }),
      ended: null,
      nextKey: null,
      retiredKeys: [],
      predecessors: [],
    }),
  );
  return tree.events.frontier;
});
const store = indexSqlite({
  path: join(dataDir, "index.sqlite"),
  logFolder: join(dataDir, "log"),
  genesisHash: walletOf("genesis"),
  deployment: LOCAL_DEPLOYMENT,
});
const frontier = await Effect.runPromise(Effect.provide(work, store));
process.stdout.write(`${Buffer.from(frontier).toString("base64")}\n`);

import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { Effect, Exit, Layer } from "effect";
import { indexReaderSqlite, logStoreSqlite } from "../../../adapters/sqlite/index-store.ts";
import { SCHEMA_VERSION } from "../../../adapters/sqlite/open-store.ts";
import { settledPacketsSqlite } from "../../../adapters/sqlite/packets/settled-packets.ts";
import { outcomeLogSqlite } from "../../../adapters/sqlite/relay/outcome-log.ts";
import { MANIFEST_FILE } from "../../../app/backup/manifest.ts";
import { backUpData } from "../../../app/backup/take-backup.ts";
import { hash32FromBytes } from "../../../core/domain/hash32.ts";
import { ledgerSignatureFromBytes } from "../../../core/domain/ledger/signature.ts";
import type { RelayEntry } from "../../../core/domain/relay/relay-entry.ts";
import { printLogStanding } from "../../../core/use-cases/log/log-standing.ts";
import { IndexReader } from "../../../ports/index/index-reader.ts";
import { LogStore } from "../../../ports/log/log-store.ts";
import { OutcomeLog } from "../../../ports/outcome-log.ts";
import { SettledPackets } from "../../../ports/settled-packets.ts";
import { openIndexOfNode, WORLD_LEDGER } from "../../simulation/index-of-node.ts";
import { serveNode } from "../../simulation/serve-node.ts";
import { worldOf } from "../../simulation/world.ts";
import { walletOf, worldEscrow } from "../../simulation/world-escrow.ts";
import { ChainNode } from "../../world/chain-node.ts";

const GOLDEN = join(import.meta.dir, "../../vectors/stores");
const ESCROWS = 12;

const ROOT = hash32FromBytes(new Uint8Array(32).fill(5));
const STANDING = printLogStanding({
  signed: { origin: "log.example/log/0123456789abcdef/0", size: 22, root: ROOT },
  publicKey: ROOT,
  nextKey: null,
  retiredKeys: [],
  published: "a checkpoint",
  ended: null,
  predecessors: [],
});
const RELAYED: RelayEntry = {
  signature: ledgerSignatureFromBytes(new Uint8Array(64).fill(6)),
  transaction: new Uint8Array(100).fill(7),
  feePayer: walletOf("golden payer"),
  lastValidBlockHeight: 2n ** 61n + 5n,
  openedAtSlot: 9n,
  openedAtMs: 1_700_000_000_000,
  outcome: null,
};
const USE = {
  client: "a client",
  key: "a key",
  fingerprint: "a request",
  nowMs: 1_700_000_000_000,
  forgottenBeforeMs: 0,
};
const PACKET = '{"a":"packet"}';

/** Everything that a service reads of a data directory's stores, as plain data. */
const contentOf = Effect.gen(function* () {
  const reader = yield* IndexReader;
  const [log, relay, packets] = [yield* LogStore, yield* OutcomeLog, yield* SettledPackets];
  const { mark } = yield* reader.summary;
  const addresses = Array.from({ length: ESCROWS }, (_, number) => worldEscrow(number).address);
  const leaves = yield* log.leaves(1n, 100);
  return {
    count: mark?.count,
    slot: mark?.slot,
    shown: yield* reader.escrowsAt(addresses),
    leaves: leaves.map((leaf) => leaf.toHex()),
    tile: (yield* log.tile("0/tile/0/000"))?.toHex(),
    standing: yield* log.standing,
    relayed: yield* relay.find(RELAYED.signature),
    key: yield* relay.claimKey(USE),
    packet: yield* packets.find(worldEscrow(1).address),
    escrow: yield* packets.escrowOf(ROOT),
  };
});

const storesIn = (dataDir: string) => {
  const index = { ...WORLD_LEDGER, path: join(dataDir, "index.sqlite") };
  return Layer.mergeAll(
    indexReaderSqlite(index),
    logStoreSqlite({ ...index, logFolder: join(dataDir, "log") }),
    outcomeLogSqlite({ ...WORLD_LEDGER, path: join(dataDir, "relay.sqlite") }),
    settledPacketsSqlite(join(dataDir, "packets.sqlite")),
  );
};

/** Everything that a service reads of the stores in a data directory. */
export const readContent = (dataDir: string) =>
  Effect.runPromise(Effect.provide(contentOf, storesIn(dataDir)));

/** Fills the stores of a new data directory with the same content each time. */
export const fillStores = async (dataDir: string): Promise<void> => {
  await mkdir(dataDir, { recursive: true });
  using node = serveNode(new ChainNode(worldOf(ESCROWS)).answer);
  const path = join(dataDir, "index.sqlite");
  const index = await openIndexOfNode({ url: node.url, path });
  const synced = await index.sync();
  await index.close();
  if (Exit.isFailure(synced)) throw new Error("the golden index is not synced");
  await rm(`${path}.log`, { recursive: true });
  const filled = Effect.gen(function* () {
    const [log, relay, packets] = [yield* LogStore, yield* OutcomeLog, yield* SettledPackets];
    yield* log.keepTiles([{ path: "0/tile/0/000", bytes: new Uint8Array(8192).fill(8) }]);
    yield* log.replaceStanding(null, STANDING);
    yield* relay.open(RELAYED);
    yield* relay.resolve(RELAYED.signature, { status: "landed", slot: 12n, error: null });
    yield* relay.claimKey(USE);
    yield* relay.answerKey(USE, "an answer");
    yield* packets.keep(worldEscrow(1).address, PACKET, ROOT);
  });
  await Effect.runPromise(Effect.provide(filled, storesIn(dataDir)));
};

/** The schema versions whose stores are kept. */
export const goldenVersions = async (): Promise<ReadonlyArray<number>> =>
  (await readdir(GOLDEN)).map((name) => Number(name.replace("schema-", "")));

/** Unpacks the backup of a schema version into a new folder, as it was made. */
export const unpackGolden = async (version: number, to: string): Promise<void> => {
  const folder = join(GOLDEN, `schema-${version}`);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const from = join(entry.parentPath, entry.name);
    const file = join(to, from.slice(folder.length + 1).replace(/\.gz$/, ""));
    const bytes = await readFile(from);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, from.endsWith(".gz") ? gunzipSync(bytes) : bytes);
  }
};

/** Writes the backup of this version's stores in place of an earlier one. */
const writeGolden = async (): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), "golden-store-"));
  try {
    const [dataDir, backup] = [join(folder, "data"), join(folder, "backup")];
    await fillStores(dataDir);
    const { manifest } = await backUpData(dataDir, backup, null);
    const golden = join(GOLDEN, `schema-${SCHEMA_VERSION}`);
    await rm(golden, { recursive: true, force: true });
    for (const { path } of manifest.files) {
      await mkdir(dirname(join(golden, path)), { recursive: true });
      const packed = gzipSync(await readFile(join(backup, path)), { level: 9 });
      await writeFile(join(golden, `${path}.gz`), packed);
    }
    await writeFile(join(golden, MANIFEST_FILE), await readFile(join(backup, MANIFEST_FILE)));
  } finally {
    await rm(folder, { recursive: true });
  }
};

// Run as a script by `bun run test:more golden-store`.
if (import.meta.main) await writeGolden();

import { beforeAll } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Effect, Layer } from "effect";
import { indexSqlite } from "../../../adapters/sqlite/index-store.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../../arbitraries/test-ledger.ts";
import { indexStoreContract } from "../../contracts/index-store.ts";
import { tmpdir } from "../../temporary-root.ts";
import { inOwnFolder } from "./store-folder.ts";

const FILES = ["index.sqlite", "log/standing.sqlite"];
const indexIn = (folder: string) =>
  indexSqlite({
    path: join(folder, "index.sqlite"),
    logFolder: join(folder, "log"),
    genesisHash: TEST_GENESIS_HASH,
    deployment: TEST_DEPLOYMENT,
  });

let empty: ReadonlyArray<readonly [file: string, bytes: Uint8Array]> = [];

// The tables of some four hundred indexes are made once: each begins as a copy of one that was opened and closed.
beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "empty-index-"));
  await Effect.runPromise(Effect.scoped(Layer.build(indexIn(folder))));
  empty = FILES.map((file) => [file, readFileSync(join(folder, file))]);
  rmSync(folder, { recursive: true });
});

indexStoreContract(
  "indexSqlite",
  () =>
    inOwnFolder((folder) => {
      mkdirSync(join(folder, "log"));
      for (const [file, bytes] of empty) writeFileSync(join(folder, file), bytes);
      return indexIn(folder);
    }),
  20,
);

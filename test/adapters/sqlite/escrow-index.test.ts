import { beforeAll } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Effect, Layer } from "effect";
import { escrowIndexSqlite } from "../../../adapters/sqlite/escrow-index.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../../arbitraries/test-ledger.ts";
import { escrowIndexContract } from "../../contracts/escrow-index.ts";
import { tmpdir } from "../../temporary-root.ts";
import { inOwnFolder } from "./store-folder.ts";

const pathIn = (folder: string): string => join(folder, "index.sqlite");
const indexIn = (folder: string) =>
  escrowIndexSqlite({
    path: pathIn(folder),
    genesisHash: TEST_GENESIS_HASH,
    deployment: TEST_DEPLOYMENT,
  });

let empty: Uint8Array;

// The tables of some four hundred indexes are made once: each begins as a copy of one that was opened and closed.
beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "empty-index-"));
  await Effect.runPromise(Effect.scoped(Layer.build(indexIn(folder))));
  empty = readFileSync(pathIn(folder));
  rmSync(folder, { recursive: true });
});

escrowIndexContract(
  "escrowIndexSqlite",
  () =>
    inOwnFolder((folder) => {
      writeFileSync(pathIn(folder), empty);
      return indexIn(folder);
    }),
  20,
);

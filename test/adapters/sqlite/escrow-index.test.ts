import { afterAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { escrowIndexSqlite } from "../../../adapters/sqlite/escrow-index.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../../arbitraries/test-ledger.ts";
import { escrowIndexContract } from "../../contracts/escrow-index.ts";

const folder = mkdtempSync(join(tmpdir(), "escrow-index-"));
afterAll(() => rmSync(folder, { recursive: true }));

let stores = 0;
escrowIndexContract(
  "escrowIndexSqlite",
  () =>
    escrowIndexSqlite({
      path: join(folder, `${++stores}.sqlite`),
      genesisHash: TEST_GENESIS_HASH,
      deployment: TEST_DEPLOYMENT,
    }),
  20,
);

import { afterAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { outcomeLogSqlite } from "../../../adapters/sqlite/outcome-log.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../../arbitraries/test-ledger.ts";
import { outcomeLogContract } from "../../contracts/outcome-log.ts";

const folder = mkdtempSync(join(tmpdir(), "outcome-log-"));
afterAll(() => rmSync(folder, { recursive: true }));

let logs = 0;
outcomeLogContract("outcomeLogSqlite", () =>
  outcomeLogSqlite({
    path: join(folder, `${++logs}.sqlite`),
    genesisHash: TEST_GENESIS_HASH,
    deployment: TEST_DEPLOYMENT,
  }),
);

import { join } from "node:path";
import { escrowIndexSqlite } from "../../../adapters/sqlite/escrow-index.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../../arbitraries/test-ledger.ts";
import { escrowIndexContract } from "../../contracts/escrow-index.ts";
import { inOwnFolder } from "./store-folder.ts";

escrowIndexContract(
  "escrowIndexSqlite",
  () =>
    inOwnFolder((folder) =>
      escrowIndexSqlite({
        path: join(folder, "index.sqlite"),
        genesisHash: TEST_GENESIS_HASH,
        deployment: TEST_DEPLOYMENT,
      }),
    ),
  20,
);

import { join } from "node:path";
import { outcomeLogSqlite } from "../../../adapters/sqlite/relay/outcome-log.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../../arbitraries/test-ledger.ts";
import { outcomeLogContract } from "../../contracts/outcome-log.ts";
import { inOwnFolder } from "./store-folder.ts";

outcomeLogContract("outcomeLogSqlite", () =>
  inOwnFolder((folder) =>
    outcomeLogSqlite({
      path: join(folder, "relay.sqlite"),
      genesisHash: TEST_GENESIS_HASH,
      deployment: TEST_DEPLOYMENT,
    }),
  ),
);

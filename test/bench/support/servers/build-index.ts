import { join } from "node:path";
import { Effect } from "effect";
import { sha256Bun } from "../../../../adapters/bun/sha256.ts";
import { indexSqlite } from "../../../../adapters/sqlite/index-store.ts";
import { provideSha256 } from "../../../../core/domain/sha256.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { walletOf } from "../../../simulation/world-escrow.ts";
import { built } from "../store-work.ts";

// Run as a process: builds the index of a world of argv[3] escrows in the data directory argv[2], and prints a line.
const [dataDir = "", rows = ""] = process.argv.slice(2);
provideSha256(sha256Bun);
const store = indexSqlite({
  path: join(dataDir, "index.sqlite"),
  logFolder: join(dataDir, "log"),
  genesisHash: walletOf("genesis"),
  deployment: LOCAL_DEPLOYMENT,
});
await Effect.runPromise(Effect.provide(built(Number(rows)), store));
process.stdout.write("built\n");

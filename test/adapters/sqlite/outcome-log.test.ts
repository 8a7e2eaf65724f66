import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { Effect } from "effect";
import { outcomeLogSqlite } from "../../../adapters/sqlite/relay/outcome-log.ts";
import { OutcomeLog } from "../../../ports/outcome-log.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../../arbitraries/test-ledger.ts";
import { watchStores } from "../../chaos/support/kills/opened-stores.ts";
import { outcomeLogContract } from "../../contracts/outcome-log.ts";
import { temporaryDirectory } from "../../app/support/running-service.ts";
import { inOwnFolder } from "./store-folder.ts";

const logIn = (folder: string) =>
  outcomeLogSqlite({
    path: join(folder, "relay.sqlite"),
    genesisHash: TEST_GENESIS_HASH,
    deployment: TEST_DEPLOYMENT,
  });
const fresh = () => inOwnFolder(logIn);

const directory = await temporaryDirectory();
afterAll(() => directory.remove());

outcomeLogContract("outcomeLogSqlite", fresh, () => logIn(directory.path));

test("what the log acknowledges outlives a power cut: its connection syncs each commit", async () => {
  using stores = watchStores();
  const levels = await Effect.runPromise(
    Effect.provide(
      OutcomeLog.use((log) =>
        Effect.as(
          log.unresolved(1),
          [...stores.opened].map((store) => store.prepare("PRAGMA synchronous").values()[0]?.[0]),
        ),
      ),
      fresh(),
    ),
  );
  // 2 is FULL and 1 is NORMAL, which a power cut can set back.
  expect(levels).toEqual([2n]);
});

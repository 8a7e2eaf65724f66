import { describe, test } from "bun:test";
import { LONG_MS } from "../../chaos/support/chaos-run.ts";
import { expectWholeBatches } from "../../chaos/support/expect-whole-batches.ts";
import { killSyncs } from "../../chaos/support/kills/kill-syncs.ts";
import { INDEX_SYNC, openIndex, WORLD_LEDGER } from "../../simulation/index-of-node.ts";
import { LEADER_KILLS } from "./leader-kills.ts";
import { dumpOfSchema } from "./schema-dump.ts";
import { freshSchema, indexAt } from "./test-database.ts";

describe("a replica killed while it syncs", () => {
  test(
    "killed at any moment of a sync, a replica leaves a store that ends as if it had never been",
    () =>
      killSyncs({
        script: `${import.meta.dir}/sync-until-killed.ts`,
        kills: 2 * LEADER_KILLS,
        mostKillsASync: 4,
        // Each process first waits until the lease of the one before it has expired.
        atOnce: 5,
        newStore: () => freshSchema().href,
        dumpOf: (store) => dumpOfSchema(new URL(store)),
        expectWhole: async (store, moment, when) => {
          if (moment !== "in a batch") return;
          const index = await openIndex(
            { url: "http://127.0.0.1:9" },
            indexAt(new URL(store), WORLD_LEDGER),
            INDEX_SYNC,
          );
          await expectWholeBatches(index, when);
          await index.close();
        },
      }),
    LONG_MS,
  );
});

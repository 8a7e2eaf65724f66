import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runService, until } from "../../app/support/running-service.ts";
import { environmentOn } from "../../chaos/support/service-environment.ts";

/**
 * A service in this process on the node at `rpcUrl`, without rate limits and with an evidence key. Returns its address
 * once its index is synced, or ready where `builtIn` is the data directory of an index that is there already.
 */
export const startBenchService = async (rpcUrl: string, builtIn?: string): Promise<string> => {
  const dataDir = builtIn ?? mkdtempSync(join(tmpdir(), "settlement-bench-"));
  const many = "1000000";
  const { url } = await runService({
    ...environmentOn(rpcUrl, dataDir),
    RATE_LIMIT_READS: many,
    RATE_LIMIT_PREPARE: many,
    RATE_LIMIT_RELAY: many,
    RATE_LIMIT_SYNC: many,
    SYNC_INTERVAL_SECONDS: "0",
    EVIDENCE_SIGNING_KEY: Buffer.alloc(32, 7).toString("base64"),
  });
  if (builtIn !== undefined) {
    const readiness = () => fetch(`${url}/ready`).then(({ status }) => status);
    await until("ready", readiness, (status) => status === 200);
    return url;
  }
  // A first sync may take longer than its answer may. It goes on without its caller.
  const sync = () =>
    fetch(`${url}/v1/indexer/sync`, { method: "POST" }).then(
      ({ status }) => status,
      (cause: unknown) => String(cause),
    );
  await until("synced", sync, (status) => status === 202, 3600);
  return url;
};

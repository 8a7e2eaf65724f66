import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runService, until } from "../../app/running-service.ts";
import { environmentOn } from "../../chaos/support/service-environment.ts";

// Run as a process: a service on the node at argv[2], with nobody counting its clients' requests and with an
// evidence key. Prints its address once its index is synced.
const dataDir = mkdtempSync(join(tmpdir(), "settlement-bench-"));
const many = "1000000";
const { url } = await runService({
  ...environmentOn(process.argv[2] ?? "", dataDir),
  RATE_LIMIT_READS: many,
  RATE_LIMIT_PREPARE: many,
  SYNC_INTERVAL_SECONDS: "0",
  EVIDENCE_SIGNING_KEY: Buffer.alloc(32, 7).toString("base64"),
});
await until(
  "synced",
  () => fetch(`${url}/v1/indexer/sync`, { method: "POST" }).then(({ status }) => status),
  (status) => status === 202,
  600,
);
process.stdout.write(`${url}\n`);

import { expect, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { spawnLedger } from "../adapters/local-ledger/ledger-process.ts";
import { freshSchema } from "../adapters/postgres/test-database.ts";
import { withDemoLedger } from "./support/demo-ledger.ts";
import { installFrom, runReadme } from "./support/readme-program.ts";
import { roundRobin } from "./support/round-robin.ts";
import { temporaryDirectory } from "./support/running-service.ts";
import { startShortLivedService } from "./support/service-process.ts";
import { synced } from "./support/started-services.ts";

test("the README's program pays and ends with verified evidence, its requests in turn at two replicas", async () => {
  const directory = await temporaryDirectory();
  const ledger = await spawnLedger(withDemoLedger(`${directory.path}/demo`));
  const shared = {
    PORT: "0",
    SOLANA_RPC_URL: ledger.ready.rpc_url,
    SOLANA_WS_URL: ledger.ready.ws_url,
    CUSTODY_PROGRAM_ID: LOCAL_DEPLOYMENT.custodyProgram,
    ATTESTOR_PROGRAM_ID: LOCAL_DEPLOYMENT.attestorProgram,
    EVIDENCE_SIGNING_KEY: Buffer.alloc(32, 7).toString("base64"),
    DATABASE_URL: freshSchema().href,
    SYNC_INTERVAL_SECONDS: "1",
    LOG_LEVEL: "info",
  };
  const replicas = [
    startShortLivedService({ ...shared, DATA_DIR: `${directory.path}/one` }),
    startShortLivedService({ ...shared, DATA_DIR: `${directory.path}/two` }),
  ];
  const urls = await Promise.all(replicas.map(({ url }) => url));
  const balancer = roundRobin(urls);
  try {
    for (const url of urls) await synced(url);
    const folder = `${directory.path}/agent`;
    await mkdir(folder);
    await installFrom(balancer.url, folder);
    const printed = await runReadme(balancer.url, folder);
    expect(printed.at(-1)).toBe("Fulfilled verified");
    for (const asked of balancer.asked) expect(asked).toBeGreaterThan(3);
  } finally {
    await balancer.stop();
    for (const replica of replicas) replica.kill("SIGKILL");
    await Promise.all(replicas.map(({ ended }) => ended));
    ledger.child.kill();
    await ledger.child.exited;
    await directory.remove();
  }
});

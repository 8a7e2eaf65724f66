import { expect, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { spawnLedger } from "../adapters/local-ledger/ledger-process.ts";
import { freshSchema } from "../adapters/postgres/test-database.ts";
import { withDemoLedger } from "./support/demo-ledger.ts";
import { installFrom, runReadme } from "./support/readme-program.ts";
import { temporaryDirectory, synced } from "./support/running-service.ts";
import { startShortLivedService } from "./support/service-process.ts";

/** A balancer before several services: each request goes to the next of them. */
const roundRobin = (urls: ReadonlyArray<string>) => {
  let turn = 0;
  const asked = urls.map(() => 0);
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: async (request) => {
      const at = turn++ % urls.length;
      asked[at] = (asked[at] ?? 0) + 1;
      const { pathname, search } = new URL(request.url);
      const answer = await fetch(`${urls[at]}${pathname}${search}`, {
        method: request.method,
        headers: request.headers,
        ...(request.method === "GET" ? {} : { body: await request.arrayBuffer() }),
        signal: request.signal,
      });
      const headers = new Headers(answer.headers);
      // The body is decoded by now.
      for (const name of ["content-encoding", "content-length", "transfer-encoding"])
        headers.delete(name);
      return new Response(answer.body, { status: answer.status, headers });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    /** How many requests each service has had. */
    asked: asked as ReadonlyArray<number>,
    stop: () => server.stop(true),
  };
};

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

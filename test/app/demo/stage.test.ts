import { expect, test } from "bun:test";
import { LOCAL_USDC_MINT } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import type { DemoFunds } from "../../../app/demo/funds/demo-funds.ts";
import { openStage } from "../../../app/demo/stage.ts";
import { walletOfSeed } from "../../../app/demo/wallet.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { silentNarrator } from "../commands/silent-narrator.ts";

const wallet = await walletOfSeed(new Uint8Array(32).fill(1));
const parties = { agent: wallet, merchant: wallet, attestor: wallet, passerBy: wallet };
const funds: DemoFunds = {
  parties: () => Promise.resolve(parties),
  latestBlockhash: () => Promise.reject(new Error("nothing is sent")),
};

/** A service whose status is `degraded` as often as this, and then `online`. */
const degradedFor = (times: number, cluster: string) => {
  let asked = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => {
      if (new URL(request.url).pathname !== "/v1/status")
        return Response.json({
          network: "http://127.0.0.1:1",
          programs: {
            custody: LOCAL_DEPLOYMENT.custodyProgram,
            attestor: LOCAL_DEPLOYMENT.attestorProgram,
          },
        });
      const status = asked++ < times ? "degraded" : "online";
      return Response.json({ data: { status, network: { cluster } } });
    },
  });
  return { url: server.url.origin, [Symbol.dispose]: () => void server.stop(true) };
};

test("a service that is degraded for a moment, as on a busy machine, does not end the demo", async () => {
  using service = degradedFor(2, "localnet");
  const stage = await openStage(service.url, LOCAL_USDC_MINT, silentNarrator, funds);
  expect(stage).toMatchObject({ deployment: LOCAL_DEPLOYMENT, ...parties });
});

test("a cluster without a faucet is refused at once, online or not", async () => {
  using service = degradedFor(Number.POSITIVE_INFINITY, "devnet");
  const failure: unknown = await openStage(service.url, LOCAL_USDC_MINT, silentNarrator).catch(
    (cause: unknown) => cause,
  );
  expect(failure).toMatchObject({
    name: "DemoFailed",
    message: expect.stringContaining("the service works on devnet, which has no faucet"),
  });
});

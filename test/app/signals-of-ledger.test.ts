import { afterEach, expect, test } from "bun:test";
import { Effect, Redacted } from "effect";
import { readSettings } from "../../app/config/settings.ts";
import { signalsOfLedger } from "../../app/lifecycle/signals-of-ledger.ts";
import { startGeyserServer } from "../adapters/yellowstone/geyser-server.ts";
import { WATCHED } from "../contracts/ledger-signals.ts";
import { listenTo } from "../contracts/signal-listener.ts";
import { environmentOn } from "../chaos/support/service-environment.ts";
import { ChainNode } from "../world/chain-node.ts";
import { serveNode } from "../simulation/serve-node.ts";
import { worldOf } from "../simulation/world.ts";
import { temporaryDirectory } from "./support/running-service.ts";
import { startShortLivedService } from "./support/service-process.ts";

const opened: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

test("with YELLOWSTONE_URL the signals come from that server, for the programs that are configured", async () => {
  const server = await startGeyserServer();
  opened.push(server.stop);
  const settings = Effect.runSync(
    readSettings({
      SOLANA_RPC_URL: "https://api.devnet.solana.com",
      CUSTODY_PROGRAM_ID: WATCHED[0],
      ATTESTOR_PROGRAM_ID: WATCHED[1],
      YELLOWSTONE_URL: server.url.href,
    }),
  );
  const webSocketUrl = Redacted.make(new URL("ws://127.0.0.1:1"));
  const listener = listenTo(signalsOfLedger({ settings, webSocketUrl }));
  opened.push(listener.stop);
  await listener.until(() => listener.heard.length === 1);
  expect(server.subscriptions()[0]?.accounts).toMatchObject({
    accounts: { owner: [...WATCHED] },
  });
});

test("a started service subscribes at the Yellowstone server that it is given", async () => {
  const subscribed = Promise.withResolvers<void>();
  const isMute = () => {
    subscribed.resolve();
    return false;
  };
  const [server, directory] = [await startGeyserServer({ isMute }), await temporaryDirectory()];
  opened.push(directory.remove, server.stop);
  const world = worldOf(10);
  using node = serveNode(new ChainNode(world).answer);
  const service = startShortLivedService({
    ...environmentOn(node.url, directory.path),
    LOG_LEVEL: "info",
    YELLOWSTONE_URL: server.url.href,
  });
  opened.push(async () => {
    service.kill("SIGTERM");
    await service.ended;
  });
  await service.url;
  await subscribed.promise;
  expect(Object.keys(server.subscriptions()[0] ?? {})).toContain("accounts");
});

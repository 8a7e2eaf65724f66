import { afterEach, expect, test } from "bun:test";
import { Effect, Redacted } from "effect";
import { readSettings } from "../../app/config/settings.ts";
import { signalsOfLedger } from "../../app/syncing/signals-of-ledger.ts";
import { startGeyserServer } from "../adapters/yellowstone/geyser-server.ts";
import { WATCHED } from "../contracts/ledger-signals.ts";
import { listenTo } from "../contracts/signal-listener.ts";

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

import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import {
  AGENT,
  type Asked,
  honestTransaction,
  MERCHANT,
  MINT,
  TRUST,
} from "../support/fake-service.ts";
import { temporaryDirectory } from "../../app/support/running-service.ts";
import { modernClient } from "./mcp-clients.ts";
import { signed } from "./mcp-service.ts";

const BIN = join(import.meta.dir, "../../../client/bin/settlement-evidence.ts");
const ASKED: Asked = {
  agent_owner: AGENT,
  merchant: MERCHANT,
  mint: MINT,
  amount_stroops: "1500000",
  ttl_seconds: 3600,
  task_intent: "GET https://api.example.com",
  nonce: "order-1",
};
const LIED = { decimals: 12, symbol: "TESTCREDIT" };

/** A service that lies about its mint's decimals and symbol wherever it names them. */
const service = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: ({ url }) =>
    new URL(url).pathname === "/v1/status"
      ? Response.json({
          data: {
            status: "online",
            relay: { status: "online" },
            network: { cluster: "localnet", genesis_hash: null },
            supported_mints: [{ address: MINT, ...LIED }],
          },
        })
      : Response.json({ ...TRUST, supported_mints: [{ address: MINT, ...LIED }] }),
});
afterAll(() => service.stop(true));

/** What the person is asked over stdio before 1.5 USDC are locked, and the mints that the model is told. */
const toldWith = async (...trust: ReadonlyArray<string>) => {
  const args = [BIN, "mcp", "--service", service.url.origin, ...trust];
  const client = await modernClient({ command: process.execPath, args }, { action: "decline" });
  try {
    const { structured } = await client.call("service_status");
    const transaction = Buffer.from(honestTransaction(ASKED)).toString("base64");
    await client.call("relay_transaction", { signed_transaction: signed(transaction, [AGENT]) });
    return { question: client.asked[0] ?? "", mints: structured["mints"] };
  } finally {
    await client.close();
  }
};

test("without --trust the question says first that nothing is pinned, and believes no decimals and no symbol of the service", async () => {
  const { question, mints } = await toldWith();
  expect(question).toStartWith("NOT PINNED: ");
  expect(question).toInclude(`LOCK 1500000 base units of the unlisted mint ${MINT} of agent`);
  expect(question).toInclude(LOCAL_DEPLOYMENT.custodyProgram);
  expect(question).not.toInclude(LIED.symbol);
  expect(mints).toEqual([{ mint: MINT }]);
}, 60_000);

test("with --trust amounts and mints are those of the trust document, whatever the service says", async () => {
  const folder = await temporaryDirectory();
  try {
    const file = join(folder.path, "trust.json");
    await Bun.write(file, JSON.stringify(TRUST));
    const { question, mints } = await toldWith("--trust", file);
    expect(question).toStartWith(
      "Send this transaction to the ledger? It will: LOCK 1.500000 USDC",
    );
    expect(mints).toEqual([{ mint: MINT, symbol: "USDC", decimals: 6 }]);
  } finally {
    await folder.remove();
  }
}, 60_000);

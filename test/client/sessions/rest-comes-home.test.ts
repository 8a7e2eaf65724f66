import { afterAll, expect, test } from "bun:test";
import { LOCAL_USDC_MINT, localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { connect } from "../../../client/connect.ts";
import { keySigner } from "../../../client/node/key-file.ts";
import { memorySessionJournal } from "../../../client/sessions/agent/memory-journal.ts";
import { associatedToken } from "../../../core/protocol/addresses/addresses.ts";
import { spawnLedger } from "../../adapters/local-ledger/ledger-process.ts";
import { withDemoLedger } from "../../app/support/demo-ledger.ts";
import {
  quietEnvironment,
  runService,
  temporaryDirectory,
  until,
} from "../../app/support/running-service.ts";

const AGENT = localKey("agent/planner");
const TOKENS = associatedToken(AGENT.address, LOCAL_USDC_MINT).address;

const directory = await temporaryDirectory();
afterAll(directory.remove);

/** What `work` gives with a client of a service over the folder's ledger, and with a look at the agent's tokens. */
const served = async <A>(
  work: (client: ReturnType<typeof connect>, tokens: () => Promise<bigint>) => Promise<A>,
): Promise<A> => {
  const service = await runService(quietEnvironment(directory.path));
  try {
    await until(
      "the service is ready",
      () => fetch(`${service.url}/ready`).then(({ status }) => status),
      (status) => status === 200,
    );
    const trust = await (await fetch(`${service.url}/.well-known/evidence-trust.json`)).text();
    const tokens = async (): Promise<bigint> => {
      const answer = await fetch(service.rpcUrl, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "getTokenAccountBalance",
          params: [TOKENS],
        }),
      });
      const { result } = (await answer.json()) as { result: { value: { amount: string } } };
      return BigInt(result.value.amount);
    };
    return await work(connect(service.url, { trust, rpc: service.rpcUrl }), tokens);
  } finally {
    await service.stop();
  }
};

test("what a session that its agent closed alone still holds comes home once its time has come", async () => {
  withDemoLedger(directory.path);
  const journal = memorySessionJournal();
  const signer = keySigner(AGENT.seed);
  const had = await served(async (client, tokens) => {
    const before = await tokens();
    const merchant = localKey("merchant/forecast").address;
    const session = await client.session({ merchant, budget: "1.00", ttl: 3600, signer, journal });
    expect(await tokens()).toBe(before - 1_000_000n);
    expect((await session.close()).outcome).toBe("closing");
    return before;
  });
  const { child } = await spawnLedger(directory.path, "--skip-days", "1");
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
  await served(async (client, tokens) => {
    const session = await client.session({ signer, journal });
    const ended = await session.close();
    expect(ended).toMatchObject({ outcome: "settled", used: "0", rest: "1000000" });
    expect(ended.lamports.fees).toBe("15000");
    expect(await tokens()).toBe(had);
    expect(await session.close()).toEqual({ ...ended, closesAt: ended.closesAt });
  });
}, 120_000);

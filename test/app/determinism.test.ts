import { afterAll, expect, test } from "bun:test";
import type { EscrowRecord } from "../../adapters/http/escrow/escrow-contract.ts";
import { completePacket } from "./support/complete-packet.ts";
import { withDemoLedger } from "./support/demo-ledger.ts";
import {
  quietEnvironment,
  synced,
  temporaryDirectory,
  untilReady,
} from "./support/running-service.ts";
import { type ServiceProcess, startShortLivedService } from "./support/service-process.ts";

/** Locales that differ in the offset from UTC, the decimal comma and the upper case of i. */
const PLACES = [
  { TZ: "UTC", LC_ALL: "C" },
  { TZ: "Asia/Kathmandu", LC_ALL: "tr_TR.UTF-8", LANG: "tr_TR.UTF-8" },
];

const WALLETS = [
  "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T",
  "8qbHbw2BbbTHBW1sbeqakYXVKRQM8Ne7pLK7m6CVfeR9",
  "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU",
] as const;

const REQUESTS = [
  { task_intent: "GET /quotes?symbol=SOL" },
  { task_intent: "İstanbul ıi ß \u{1f9fe}", nonce: "1" },
  { task_hash: "AB".repeat(32), nonce: "not applied" },
].flatMap((task) =>
  ["1", "1500000", "18446744073709551615"].map((amount_stroops) => ({
    agent_owner: WALLETS[0],
    merchant: WALLETS[1],
    mint: WALLETS[2],
    amount_stroops,
    ttl_seconds: 604_800,
    ...task,
  })),
);

const started: Array<ServiceProcess> = [];
const directory = await temporaryDirectory();
withDemoLedger(directory.path);

afterAll(async () => {
  for (const service of started) service.kill("SIGKILL");
  await Promise.all(started.map(({ ended }) => ended));
  await directory.remove();
});

/** All answers of a service in this environment that must not depend on environment or process. */
const answersIn = async (place: Readonly<Record<string, string>>) => {
  const service = startShortLivedService({
    ...quietEnvironment(directory.path),
    LOG_LEVEL: "info",
    ...place,
  });
  started.push(service);
  const url = await service.url;
  const prepared = await Promise.all(
    REQUESTS.map(async (body) => {
      const response = await fetch(`${url}/v1/escrows/prepare`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      expect(response.status).toBe(200);
      return response.text();
    }),
  );
  await untilReady(url);
  await synced(url);
  const { data } = (await (await fetch(`${url}/v1/indexer`)).json()) as {
    data: ReadonlyArray<EscrowRecord>;
  };
  const settled = data.filter(({ state }) => state !== "Pending");
  const evidence = await Promise.all(
    settled.map(({ escrow_pda }) => completePacket(url, escrow_pda)),
  );
  service.kill("SIGTERM");
  expect((await service.ended).code).toBe(0);
  return { prepared, evidence };
};

test("prepared escrows and settled evidence are the same bytes in any process, time zone and locale", async () => {
  const answers: Array<Awaited<ReturnType<typeof answersIn>>> = [];
  for (const place of PLACES) answers.push(await answersIn(place));
  const [first, ...others] = answers;
  expect(first?.prepared).toHaveLength(REQUESTS.length);
  expect(first?.evidence).toHaveLength(3);
  for (const other of others) expect(other).toEqual(first ?? other);
  // Three services start one after the other, which takes half a minute where six processes share the core.
}, 240_000);

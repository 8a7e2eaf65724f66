import { afterAll, expect, test } from "bun:test";
import { textNarrator } from "../../app/demo/narrator.ts";
import { buy, checkSettled, registerMerchant, runDemo } from "../../app/demo/run-demo.ts";
import { openStage } from "../../app/demo/stage.ts";
import type { LiveEscrow } from "../../client/generated/contract.ts";
import { memoryAttestations } from "../../client/merchant.ts";
import {
  quietEnvironment,
  runService,
  temporaryDirectory,
  until,
  untilReady,
} from "./support/running-service.ts";
import { silentNarrator } from "./commands/silent-narrator.ts";

type Service = Awaited<ReturnType<typeof runService>>;

const directories: Array<Awaited<ReturnType<typeof temporaryDirectory>>> = [];
const running = new Set<Service>();

/** Slots between `confirmed` and `finalized`: none, and those of a cluster. */
const FINALITY_SLOTS = [0, 32];

const start = async (dataDir: string, finalitySlots: number): Promise<Service> => {
  const service = await runService({
    ...quietEnvironment(dataDir),
    LOCAL_LEDGER_FINALITY_SLOTS: String(finalitySlots),
  });
  running.add(service);
  await untilReady(service.url);
  return service;
};
const stop = async (service: Service): Promise<void> => {
  running.delete(service);
  await service.stop();
};
const freshDirectory = async (): Promise<string> => {
  const directory = await temporaryDirectory();
  directories.push(directory);
  return directory.path;
};
const textOf = async ({ url }: Service, path: string): Promise<string> =>
  (await fetch(url + path)).text();
const escrowOf = async (service: Service, escrow: string): Promise<LiveEscrow> =>
  (JSON.parse(await textOf(service, `/v1/escrows/${escrow}`)) as { data: LiveEscrow }).data;

/** The tokens of an account on the confirmed ledger, null when there is none. */
const tokensOf = async ({ rpcUrl }: Service, account: string): Promise<string | null> => {
  const response = await fetch(rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "getTokenAccountBalance",
      params: [account, { commitment: "confirmed" }],
    }),
  });
  const { result } = (await response.json()) as { result?: { value: { amount: string } } };
  return result?.value.amount ?? null;
};

afterAll(async () => {
  await Promise.all([...running].map(stop));
  await Promise.all(directories.map(({ remove }) => remove()));
});

/**
 * What a person reads: each step with its requests and their answers, who signs what, every check, and how both escrows
 * end.
 */
const expectStory = (
  told: ReadonlyArray<string>,
  url: string,
  { released, refunded }: { readonly released: string; readonly refunded: string },
): void => {
  expect(told.flatMap((line) => /^\n\d+\. (.*)/.exec(line)?.[1] ?? [])).toEqual([
    "Where are we?",
    "Everyone pins what they trust",
    "Four wallets and some money",
    "The merchant registers",
    "The agent pays into an escrow",
    "The merchant delivers and says so",
    "The merchant is paid",
    "The evidence, checked by a stranger",
    "The index knows",
    "The agent pays into an escrow",
    "Nobody delivers",
    "A passer-by refunds it",
    "The evidence, checked by a stranger",
    "The index knows",
  ]);
  expect(told.flatMap((line) => /✎ (.*), \d+ bytes/.exec(line)?.[1] ?? [])).toEqual([
    "merchant signs: register_merchant",
    "agent signs: create_escrow, which moves the money into the vault",
    "attestor signs: escrow, proof hash and time",
    "merchant signs: ed25519 + create_token_account + release_escrow + return_rent",
    "agent signs: create_escrow, which moves the money into the vault",
    "passer-by signs: claim_refund + return_rent",
  ]);
  // Every request is told with its answer: five relayed transactions and two syncs are accepted.
  const answers = told.filter((_, at) => told[at - 1]?.startsWith("   $ "));
  expect(answers.filter((line) => !/^   ← [245]\d\d[ ,]/.test(line))).toEqual([]);
  expect(answers.filter((line) => line.startsWith("   ← 202 "))).toHaveLength(7);
  expect(answers.filter((line) => line.includes("escrow_not_found"))).toEqual([]);
  expect(told).toContain(`   $ curl -s '${url}/v1/escrows/${released}'`);
  const results = told.flatMap((line) => /^   → (.*)/.exec(line)?.[1] ?? []);
  expect(results.filter((line) => line.startsWith("ok: service_signature"))).toHaveLength(2);
  expect(results).toContain("Fulfilled: 1.500000 USDC are the merchant's");
  expect(results).toContain("Refunded: 2.500000 USDC are the agent's again");
  expect(
    results.filter((line) => line.startsWith("the vault is closed, and its rent is with")),
  ).toHaveLength(2);
  expect(results).toContain("Fulfilled; events, newest first: escrow_released, escrow_created");
  expect(results).toContain("Refunded; events, newest first: escrow_refunded, escrow_created");
  expect(results).toContain(
    `the packet of ${released} is verified: Fulfilled, 1.500000 USDC released, 0.000000 USDC refunded`,
  );
  expect(results).toContain(
    `the packet of ${refunded} is verified: Refunded, 0.000000 USDC released, 2.500000 USDC refunded`,
  );
};

test.concurrent.each(FINALITY_SLOTS)(
  "finalized %i slots late, the demo releases one escrow, refunds another and verifies both, and its vaults are gone",
  async (slots) => {
    const service = await start(await freshDirectory(), slots);
    const told: Array<string> = [];
    const narrator = textNarrator((line) => void told.push(line), { full: false });
    const { released, refunded } = await runDemo(service.url, narrator);
    expectStory(told, service.url, { released, refunded });
    for (const [escrow, state] of [
      [released, "Fulfilled"],
      [refunded, "Refunded"],
    ] as const) {
      const { vault_token_account, ...settled } = await escrowOf(service, escrow);
      expect(settled).toMatchObject({ state, refundable: false, next_actions: [] });
      expect(await tokensOf(service, vault_token_account)).toBeNull();
    }
  },
  90_000,
);

test.concurrent.each(FINALITY_SLOTS)(
  "finalized %i slots late, a partial release pays both sides, and everything survives a restart",
  async (slots) => {
    const dataDir = await freshDirectory();
    const service = await start(dataDir, slots);
    const stage = await openStage(service.url, silentNarrator);
    await registerMerchant(stage);
    const escrow = await buy(stage, { units: 5_000_000n, ttl: 600 });
    expect(await tokensOf(service, escrow.vault_token_account)).toBe("5000000");

    const { signer, shop } = stage;
    const attestation = await shop.attest({
      escrow: escrow.escrow_pda,
      payload: { proof_template_id: "api-delivered-v1", task_hash: escrow.task_hash },
      template: null,
      amount: "2.00",
      attestor: signer("attestor", "a part"),
      journal: memoryAttestations(),
    });
    await shop.release({ attestation, payer: signer("merchant", "release_partial") });
    const settled = await escrowOf(service, escrow.escrow_pda);
    expect(settled).toMatchObject({
      state: "PartiallyFulfilled",
      released_stroops: "2000000",
      refunded_stroops: "3000000",
      proof_hash: attestation.proof_hash,
    });
    await checkSettled(stage, escrow, {
      state: "PartiallyFulfilled",
      events: ["escrow_partially_released", "escrow_created"],
    });

    const kept = [
      `/v1/evidence/${escrow.escrow_pda}`,
      "/.well-known/evidence-trust.json",
      "/v1/indexer/events?limit=500",
    ];
    const keptBy = async (asked: Service) => {
      const [evidence, trustDocument, events] = await Promise.all(
        kept.map((path) => textOf(asked, path)),
      );
      return [evidence, trustDocument, (JSON.parse(events ?? "") as { data: unknown }).data];
    };
    await until(
      "the log holds the settlement",
      () => textOf(service, `/v1/evidence/${escrow.escrow_pda}`),
      (text) => !text.includes('"log":null'),
    );
    const before = await keptBy(service);
    await stop(service);
    const again = await start(dataDir, slots);
    expect(await keptBy(again)).toEqual(before);
    expect(await escrowOf(again, escrow.escrow_pda)).toEqual(settled);
  },
  90_000,
);

import { expect, test } from "bun:test";
import { localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { textNarrator } from "../../../app/demo/narrator.ts";
import { openStage } from "../../../app/demo/stage.ts";
import { silentNarrator } from "../commands/silent-narrator.ts";

const key = localKey("stage-test/party");
const parties = { agent: key, merchant: key, attestor: key, passerBy: key };
const funds = () => Promise.resolve(parties);
const trust = Bun.file(`${import.meta.dir}/../../vectors/evidence/trust.json`);
const { supported_mints } = (await trust.json()) as {
  readonly supported_mints: ReadonlyArray<{ readonly address: string }>;
};
const settlement_mint = supported_mints[0]?.address ?? null;

/** A service whose status is `degraded` as often as this, and then `online`. */
const degradedFor = (times: number, cluster: string) => {
  let asked = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => {
      if (new URL(request.url).pathname !== "/v1/status") return new Response(trust);
      const status = asked++ < times ? "degraded" : "online";
      return Response.json({ data: { status, network: { cluster }, settlement_mint } });
    },
  });
  return { url: server.url.origin, [Symbol.dispose]: () => void server.stop(true) };
};

test("a service that is degraded for a moment, as on a busy machine, does not end the demo, and is told once", async () => {
  using service = degradedFor(2, "localnet");
  const told: Array<string> = [];
  const narrator = textNarrator((line) => void told.push(line), { full: false });
  const stage = await openStage(service.url, narrator, { funds });
  expect(stage).toMatchObject({ parties, mint: supported_mints[0] });
  expect(told.filter((line) => line.includes("/v1/status"))).toEqual([
    `   $ curl -s '${service.url}/v1/status'`,
  ]);
  expect(told).toContainEqual(
    `   ← 200 ${JSON.stringify({ data: { status: "degraded", network: { cluster: "localnet" }, settlement_mint } })}`,
  );
});

const failureOf = (opening: Promise<unknown>): Promise<unknown> =>
  opening.then(
    () => null,
    (cause: unknown) => cause,
  );

test("a cluster without a faucet is refused at once, online or not", async () => {
  using service = degradedFor(Number.POSITIVE_INFINITY, "devnet");
  expect(await failureOf(openStage(service.url, silentNarrator))).toMatchObject({
    code: "demo_failed",
    message: "The service works on devnet, which has no faucet for tokens.",
    cure: "Add --payer-key FILE and --mint ADDRESS.",
  });
});

test("a mint that the trust document does not list is refused before anybody is given money", async () => {
  using service = degradedFor(0, "devnet");
  let given = 0;
  const counted = () => (given++, funds());
  const opening = openStage(service.url, silentNarrator, { mint: key.address, funds: counted });
  expect(await failureOf(opening)).toMatchObject({
    code: "demo_failed",
    message: expect.stringContaining(`does not list the mint ${key.address}`),
  });
  expect(given).toBe(0);
});

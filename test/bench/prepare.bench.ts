import { labelled, walletOf, WORLD_MINT } from "../simulation/world-escrow.ts";
import { startChild, startNodeOnOneCore, startOnOneCore } from "./support/child.ts";
import { load } from "./support/load.ts";
import { report, sizeOf, times } from "./support/report.ts";

const SECONDS = sizeOf({ quick: 2, long: 8 });
const CONNECTIONS = 64;
const AGENTS = 500;
const MERCHANTS = 50;
const support = `${import.meta.dir}/support`;

const agents = Array.from({ length: AGENTS }, (_, i) => walletOf(`agent ${i}`));
const merchants = Array.from({ length: MERCHANTS }, (_, i) => walletOf(`merchant ${i}`));
const someHash = Buffer.from(labelled("task")).toString("hex").slice(16);

/** Each task is new, while agents and merchants repeat, as in real use. */
const bodyOf = (number: number): string =>
  JSON.stringify({
    agent_owner: agents[number % AGENTS],
    merchant: merchants[number % MERCHANTS],
    mint: WORLD_MINT,
    amount_stroops: "1000000",
    ttl_seconds: 3600,
    task_hash: number.toString(16).padStart(16, "0") + someHash,
  });
const PATH = "/v1/escrows/prepare";
const answerOf = async (url: string): Promise<string> => {
  const headers = { "content-type": "application/json" };
  return (await fetch(url + PATH, { method: "POST", headers, body: bodyOf(1) })).text();
};
const measure = (url: string) =>
  load(url, (number) => ({ path: PATH, body: bodyOf(number) }), {
    connections: CONNECTIONS,
    seconds: SECONDS,
  });

const node = await startChild(`${support}/servers/serve-world.ts`, "4");
const rpcUrl = await node.line();
const service = await startOnOneCore(`${support}/servers/serve-service.ts`, rpcUrl);
const kit = await startOnOneCore(`${support}/servers/serve-kit-prepare.ts`, rpcUrl);
const fastify = await startNodeOnOneCore(`${support}/servers/serve-fastify-prepare.ts`);
const [url, kitUrl] = [await service.line(), await kit.line()];
if ((await answerOf(url)) !== (await answerOf(kitUrl)))
  throw new Error("the service and its twin with kit's derivation answer differently");
const ours = await measure(url);
const withKit = await measure(kitUrl);
const withFastify = fastify === null ? null : await measure(await fastify.line());
for (const child of [node, service, kit, fastify]) await child?.stop();

report({
  name: "POST /v1/escrows/prepare, 64 connections",
  goal: ">= 12x the route with kit",
  figure: ours.perSecond,
  unit: "/s",
  ratio: `${times(ours.perSecond, withKit.perSecond)} the same with kit${
    withFastify === null
      ? " (no Node for fastify)"
      : `, ${times(ours.perSecond, withFastify.perSecond)} fastify and kit`
  }`,
  pass: ours.perSecond / withKit.perSecond >= 12,
});
report({
  name: "POST /v1/escrows/prepare, 99th percentile",
  goal: "< 15 ms",
  figure: ours.p99Ms,
  unit: "ms",
  ratio: `kit ${withKit.p99Ms.toFixed(1)} ms`,
  pass: ours.p99Ms < 15,
});

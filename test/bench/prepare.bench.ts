import { labelled, walletOf, WORLD_MINT } from "../simulation/world-escrow.ts";
import { startChild } from "./support/child.ts";
import { load } from "./support/load.ts";
import { report, sizeOf, times } from "./support/report.ts";

const SECONDS = sizeOf({ quick: 2, long: 8 });
const CONNECTIONS = 64;
const support = `${import.meta.dir}/support`;

const bodies = Array.from({ length: 500 }, (_, i) =>
  JSON.stringify({
    agent_owner: walletOf(`agent ${i}`),
    merchant: walletOf(`merchant ${i % 50}`),
    mint: WORLD_MINT,
    amount_stroops: "1000000",
    ttl_seconds: 3600,
    task_hash: Buffer.from(labelled(`task ${i}`)).toString("hex"),
  }),
);
const measure = (url: string) =>
  load(
    (number) =>
      new Request(`${url}/v1/escrows/prepare`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: bodies[number % bodies.length] ?? "",
      }),
    { connections: CONNECTIONS, seconds: SECONDS },
  );

const node = await startChild(`${support}/serve-world.ts`, "4");
const service = await startChild(`${support}/serve-service.ts`, await node.line());
const kit = await startChild(`${support}/serve-kit-prepare.ts`);
const ours = await measure(await service.line());
const theirs = await measure(await kit.line());
await Promise.all([node.stop(), service.stop(), kit.stop()]);

report({
  name: "POST /v1/escrows/prepare, 64 connections",
  goal: ">= 12x the route with kit",
  figure: ours.perSecond,
  unit: "/s",
  ratio: `${times(ours.perSecond, theirs.perSecond)} kit's bare derivation`,
  pass: ours.perSecond / theirs.perSecond >= 12,
});
report({
  name: "POST /v1/escrows/prepare, 99th percentile",
  goal: "< 15 ms",
  figure: ours.p99Ms,
  unit: "ms",
  ratio: `kit ${theirs.p99Ms.toFixed(1)} ms`,
  pass: ours.p99Ms < 15,
});

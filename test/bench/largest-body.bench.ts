import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type DocumentedOperation,
  documentedOperations,
  type OperationsDocument,
  usualTarget,
} from "../hostile-requests/documented-operations.ts";
import { hostileBodies } from "../hostile-requests/hostile-bodies.ts";
import { hostileHeads } from "../hostile-requests/hostile-heads.ts";
import { worldEscrow } from "../simulation/world-escrow.ts";
import { startChild, startOnOneCore } from "./support/child.ts";
import { load } from "./support/load.ts";
import { report, sizeOf, times } from "./support/report.ts";

const ESCROWS = sizeOf({ quick: 600, long: 10_000 });
const ROUNDS = sizeOf({ quick: 3, long: 5 });
const SECONDS = sizeOf({ quick: 3, long: 10 });
const GOAL_MS = 20;
const CLIENTS = 4;
const support = `${import.meta.dir}/support`;

const node = await startChild(`${support}/servers/serve-world.ts`, String(ESCROWS));
const service = await startOnOneCore(
  `${support}/servers/serve-measured-service.ts`,
  await node.line(),
);
const url = await service.line();
const meterUrl = await service.line();
const { address } = worldEscrow(1);

type Asked = {
  readonly name: string;
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
};

/** The stall of the service's event loop and its CPU time, since the last call. */
const meter = async (): Promise<{ readonly stallMs: number; readonly cpuMs: number }> =>
  (await fetch(meterUrl)).json();

/** Sends a request and reads its answer; of a stream only the beginning. */
const ask = async ({ method, target, headers, body }: Asked): Promise<void> => {
  const hangUp = new AbortController();
  const response = await fetch(url + target, { method, headers, body, signal: hangUp.signal });
  if (response.headers.get("x-request-id") === null)
    throw new Error(`${target.slice(0, 80)} did not reach the service: ${response.status}`);
  if (response.headers.get("content-type")?.startsWith("text/event-stream")) hangUp.abort();
  else await response.arrayBuffer();
};

/** How long a request blocks the service: the median of several stalls, and the mean CPU time of its thread. */
const stallOf = async (asked: Asked) => {
  const stalls: Array<number> = [];
  let cpuMs = 0;
  await meter();
  for (let round = 0; round < ROUNDS; round++) {
    await ask(asked);
    const taken = await meter();
    stalls.push(taken.stallMs);
    cpuMs += taken.cpuMs / ROUNDS;
  }
  const ms = stalls.toSorted((a, b) => a - b)[ROUNDS >> 1] ?? Number.NaN;
  return { asked, ms, cpuMs };
};

/** The request in a list that blocks the service for longest. */
const worstOf = async (all: ReadonlyArray<Asked>) => {
  const stalls: Array<Awaited<ReturnType<typeof stallOf>>> = [];
  for (const asked of all) stalls.push(await stallOf(asked));
  return stalls.reduce((worst, next) => (next.ms > worst.ms ? next : worst));
};

const usual = (operation: DocumentedOperation): Asked => {
  const { method, body } = operation;
  return {
    name: "as in the documentation",
    method,
    target: usualTarget(operation, address),
    headers: method === "POST" ? { "content-type": "application/json" } : {},
    body: body === null ? null : JSON.stringify(body.example),
  };
};

const withBodies = (operation: DocumentedOperation): ReadonlyArray<Asked> => {
  const { example, maxBytes } = operation.body ?? { example: {}, maxBytes: 0 };
  return hostileBodies(example, maxBytes).map(({ name, text }) => ({
    ...usual(operation),
    name,
    body: text,
  }));
};

const withHeads = (operation: DocumentedOperation): ReadonlyArray<Asked> =>
  hostileHeads(operation, address).map(({ name, target, headers }) => {
    const request = usual(operation);
    return { ...request, name, target, headers: { ...request.headers, ...headers } };
  });

const tell = (
  name: string,
  ordinaryMs: number,
  { ms, cpuMs, asked }: Awaited<ReturnType<typeof worstOf>>,
) =>
  report({
    name,
    goal: `<= ${GOAL_MS} ms of the event loop`,
    figure: ms,
    unit: "ms",
    ratio: `${times(ms, Math.max(ordinaryMs, 0.1))} an ordinary one; CPU ${cpuMs.toFixed(1)} ms; ${asked.name}`,
    pass: ms <= GOAL_MS,
  });

const document = (await (await fetch(`${url}/openapi.json`)).json()) as OperationsDocument;
let costliest: Asked | undefined;
for (const operation of documentedOperations(document)) {
  const { method, path, operationId, body } = operation;
  // Compiles the code of an operation before it is measured.
  for (let i = 0; i < 20; i++) await ask(usual(operation));
  const { ms } = await stallOf(usual(operation));
  tell(`${method} ${path}, longest heads`, ms, await worstOf(withHeads(operation)));
  if (body === null) continue;
  const worst = await worstOf(withBodies(operation));
  tell(`${method} ${path}, ${body.maxBytes} bytes`, ms, worst);
  if (operationId === "verifyDelivery") costliest = worst.asked;
}
if (costliest === undefined) throw new Error("there is no operation verifyDelivery");

const health = () => load(url, () => ({ path: "/health" }), { connections: 1, seconds: SECONDS });
const alone = await health();
const folder = mkdtempSync(join(tmpdir(), "settlement-bench-"));
const file = join(folder, "body.json");
writeFileSync(file, costliest.body ?? "");
const clients = await startChild(
  `${support}/post-load.ts`,
  url + costliest.target,
  file,
  String(CLIENTS),
  // Runs longer than the measurements beside it.
  String(SECONDS + 2),
);
const beside = await health();
const perSecond = Number(await clients.line());
report({
  name: `GET /health while ${CLIENTS} clients post such bodies`,
  goal: "",
  figure: beside.p50Ms,
  unit: "ms",
  ratio: `alone ${alone.p50Ms.toFixed(2)} ms, ${perSecond.toFixed(0)} posted a second`,
  pass: null,
});
report({
  name: "the same, 99th percentile",
  goal: `<= ${CLIENTS} x ${GOAL_MS} ms`,
  figure: beside.p99Ms,
  unit: "ms",
  ratio: `alone ${alone.p99Ms.toFixed(2)} ms`,
  pass: beside.p99Ms <= CLIENTS * GOAL_MS,
});
for (const child of [clients, node, service]) await child.stop();
rmSync(folder, { recursive: true });

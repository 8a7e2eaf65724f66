import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { escrowCursor } from "../../adapters/http/request/page-cursor.ts";
import { networkIdOf, networkLeaf } from "../../core/log/leaf/event-leaf.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { walletOf, worldEscrow } from "../simulation/world-escrow.ts";
import { startChild, startOnOneCore } from "./support/child.ts";
import { load } from "./support/load.ts";
import { report, sizeOf, times } from "./support/report.ts";

const SECONDS = sizeOf({ quick: 2, long: 6 });
const { values } = parseArgs({ options: { rows: { type: "string" } } });
const SIZES =
  values.rows === undefined
    ? sizeOf({ quick: [10_000], long: [10_000, 100_000, 1_000_000] })
    : values.rows.split(",").map(Number);
const CONNECTIONS = 32;
/** More pages than the service keeps, from every part of the list. */
const PLACES = 20_000;
/** Escrows whose packets are asked for. */
const SETTLED = 1000;
const support = `${import.meta.dir}/support`;
const folder = mkdtempSync(join(tmpdir(), "settlement-bench-"));

/**
 * Asks the service for one path after another, then a server that returns the first answer's bytes without any work,
 * and reports the share of its rate that the service comes to.
 */
const compare = async (
  name: string,
  leastShare: number,
  url: string,
  pathOf: (number: number) => string,
): Promise<void> => {
  const file = join(folder, "answer.json");
  writeFileSync(file, await (await fetch(url + pathOf(0))).text());
  const raw = await startOnOneCore(`${support}/servers/serve-bytes.ts`, file);
  const rawUrl = await raw.line();
  const options = { connections: CONNECTIONS, seconds: SECONDS };
  const ours = await load(url, (number) => ({ path: pathOf(number) }), options);
  const theirs = await load(rawUrl, () => ({ path: "/" }), options);
  await raw.stop();
  report({
    name,
    goal: `>= ${leastShare}x Bun.serve of the bytes`,
    figure: ours.perSecond,
    unit: "/s",
    ratio: `${times(ours.perSecond, theirs.perSecond)} Bun.serve of the bytes`,
    pass: ours.perSecond / theirs.perSecond >= leastShare,
  });
};

/** How long a search may take at a million escrows. */
const SEARCH_MS = 200;

/** The slowest of searches for an address, task hashes, a wallet and a name, each asked once. */
const measureSearch = async (size: number, url: string): Promise<void> => {
  const { address, taskHash, agentOwner, merchant } = worldEscrow(Math.floor(size / 2));
  let slowest = 0;
  for (const text of [address, taskHash, "0".repeat(64), agentOwner, merchant, "a name"]) {
    const begun = performance.now();
    const answer = await fetch(`${url}/v1/search?q=${encodeURIComponent(text)}`);
    await answer.arrayBuffer();
    if (!answer.ok) throw new Error(`a search answered ${answer.status}`);
    slowest = Math.max(slowest, performance.now() - begun);
  }
  report({
    name: `GET /v1/search, the slowest of six of ${size}`,
    goal: `<= ${SEARCH_MS} ms`,
    figure: slowest,
    unit: "ms",
    ratio: `${times(SEARCH_MS, slowest)} below the goal`,
    pass: slowest <= SEARCH_MS,
  });
};

const startWorld = (escrows: number) =>
  startChild(`${support}/servers/serve-world.ts`, String(escrows));
const startService = (...args: ReadonlyArray<string>) =>
  startOnOneCore(`${support}/servers/serve-service.ts`, ...args);

/** Pages of an index of `size` escrows. It is built without a node: one that holds a million needs 12 GB. */
const measurePages = async (size: number): Promise<void> => {
  const dataDir = mkdtempSync(join(folder, "index-"));
  const builder = await startChild(`${support}/servers/build-index.ts`, dataDir, String(size));
  await builder.line();
  await builder.stop();
  const node = await startWorld(10);
  const service = await startService(await node.line(), dataDir);
  const url = await service.line();

  await compare(`GET /v1/indexer, newest 50 of ${size}`, 0.5, url, () => "/v1/indexer?limit=50");
  // Pages behind one number and then another, 7919 apart, so that none repeats before all others have come.
  const cursor = escrowCursor(
    networkIdOf(networkLeaf(walletOf("genesis"), LOCAL_DEPLOYMENT.custodyProgram)),
  );
  const places = Array.from({ length: Math.min(PLACES, size - 60) }, (_, number) =>
    cursor.encode(BigInt(60 + ((number * 7919) % (size - 60)))),
  );
  await compare(
    `GET /v1/indexer, any 50 of ${size}`,
    0.2,
    url,
    (number) => `/v1/indexer?limit=50&cursor=${places[number % places.length] ?? ""}`,
  );
  await measureSearch(size, url);
  await service.stop();
  await node.stop();
};

/** Packets of settled escrows, from a node that holds some thousand. */
const measureEvidence = async (): Promise<void> => {
  const node = await startWorld(4 * SETTLED);
  const service = await startService(await node.line());
  const url = await service.line();
  const pathOf = (number: number) => `/v1/evidence/${worldEscrow(1 + 4 * number).address}`;
  await compare("GET /v1/evidence of one settled escrow", 0.3, url, () => pathOf(0));
  const paths = Array.from({ length: SETTLED }, (_, number) => pathOf(number));
  // The first packet of an escrow is built and signed.
  for (const path of paths) await (await fetch(url + path)).arrayBuffer();
  const name = `GET /v1/evidence of ${SETTLED} settled escrows`;
  await compare(name, 0.3, url, (number) => paths[number % SETTLED] ?? "");
  await node.stop();
  await service.stop();
};

await measureEvidence();
for (const size of SIZES) await measurePages(size);
rmSync(folder, { recursive: true });

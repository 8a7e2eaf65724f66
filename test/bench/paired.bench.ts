import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Asked, load } from "./support/load.ts";
import { prepareBody, startPairedService } from "./support/paired-service.ts";
import { report, sizeOf } from "./support/report.ts";

// Both services take turns, so that other work on the machine affects both. Their ratios say more than their figures.
const ROUNDS = sizeOf({ quick: 5, long: 11 });
const SECONDS = sizeOf({ quick: 1, long: 2 });
/** Before the first round: until then the code of a route is not compiled. */
const WARM_UP_SECONDS = sizeOf({ quick: 3, long: 8 });
const CONNECTIONS = 16;
const ROOT = join(import.meta.dir, "../..");

const [commit, ...wanted] = process.argv.slice(2);
if (commit === undefined) throw new Error("usage: bun run bench paired COMMIT [route...]");

const run = (command: ReadonlyArray<string>, cwd: string): void => {
  const { exitCode, stderr } = Bun.spawnSync([...command], { cwd });
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr.toString()}`);
};
/** The sources at the commit, with their dependencies, in a folder of their own. */
const checkedOut = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "settlement-bench-"));
  const tree = join(folder, "tree");
  mkdirSync(tree);
  run(["git", "archive", "--output", join(folder, "tree.tar"), commit], ROOT);
  run(["tar", "-xf", join(folder, "tree.tar")], tree);
  run([process.execPath, "install", "--frozen-lockfile"], tree);
  return tree;
};

type Service = Awaited<ReturnType<typeof startPairedService>>;
type Route = {
  readonly name: string;
  readonly status?: number;
  readonly ask: (service: Service, number: number) => Asked;
};
const MIDDLE = "/v1/indexer?limit=50&cursor=";
const ALL: ReadonlyArray<Route> = [
  { name: "GET /health", ask: () => ({ path: "/health" }) },
  {
    name: "POST /v1/escrows/prepare",
    ask: (_, number) => ({ path: "/v1/escrows/prepare", body: prepareBody(number) }),
  },
  {
    name: "GET /v1/evidence/{pda}, settled",
    ask: ({ settled }) => ({ path: `/v1/evidence/${settled}` }),
  },
  { name: "GET /v1/escrows/{pda}", ask: ({ settled }) => ({ path: `/v1/escrows/${settled}` }) },
  { name: "GET /v1/indexer?limit=50", ask: () => ({ path: "/v1/indexer?limit=50" }) },
  {
    name: "GET /v1/indexer, one page in the middle",
    ask: ({ cursors }) => ({ path: MIDDLE + (cursors[cursors.length >> 1] ?? "") }),
  },
  {
    name: "GET /v1/indexer, all pages of 26 to 50",
    // More pages than a service keeps.
    ask: ({ cursors }, number) => {
      const limit = 50 - (Math.floor(number / cursors.length) % 25);
      return {
        path: `/v1/indexer?limit=${limit}&cursor=${cursors[number % cursors.length] ?? ""}`,
      };
    },
  },
  {
    name: "POST /v1/relay, refused",
    status: 422,
    ask: () => ({ path: "/v1/relay", body: JSON.stringify({ signed_transaction: "AAAA" }) }),
  },
];

const ROUTES = ALL.filter(
  ({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)),
);

/** Answers a second, and the CPU microseconds of one. */
const burst = async (service: Service, { ask, status = 200 }: Route, seconds = SECONDS) => {
  const before = service.cpuSeconds();
  const { answers, perSecond } = await load(service.url, (number) => ask(service, number), {
    connections: CONNECTIONS,
    seconds,
    warmUpSeconds: 0,
    status,
  });
  return { perSecond, cpuUs: ((service.cpuSeconds() - before) * 1e6) / answers };
};
const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
const bytesOf = async (service: Service, { ask }: Route): Promise<number> => {
  const { path, body } = ask(service, 0);
  return (await service.text(path, body)).length;
};

const [here, there] = [await startPairedService(ROOT), await startPairedService(checkedOut())];
const measured = ROUTES.map((route) => ({
  route,
  cpuRatios: [] as Array<number>,
  ratios: [] as Array<number>,
  cpuUs: [] as Array<number>,
}));
for (const service of [there, here])
  for (const route of ROUTES) await burst(service, route, WARM_UP_SECONDS);
for (let round = 0; round < ROUNDS; round++)
  for (const { route, cpuRatios, ratios, cpuUs } of measured) {
    const old = await burst(there, route);
    const ours = await burst(here, route);
    cpuRatios.push(old.cpuUs / ours.cpuUs);
    ratios.push(ours.perSecond / old.perSecond);
    cpuUs.push(ours.cpuUs);
  }
for (const { route, cpuRatios, ratios, cpuUs } of measured)
  report({
    name: route.name,
    goal: "",
    figure: median(cpuUs),
    unit: "us CPU",
    ratio: `${median(cpuRatios).toFixed(2)}x a CPU second, ${median(ratios).toFixed(2)}x a second; ${await bytesOf(here, route)} bytes, were ${await bytesOf(there, route)}`,
    pass: null,
  });
for (const service of [here, there]) await service.stop();

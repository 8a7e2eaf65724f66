import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { SyncedOnce } from "../simulation/sync-once.ts";
import { report, sizeOf } from "./support/report.ts";

// The paths of docs/scale.md against a provider's node in a process of its own, at two sizes, and what ten million
// escrows cost by extrapolation.
const { values } = parseArgs({ options: { rows: { type: "string" } } });
const SIZES =
  values.rows === undefined
    ? sizeOf({ quick: [5000, 20_000], long: [100_000, 1_000_000] })
    : values.rows.split(",").map(Number);
const TARGET = 10_000_000;
/** How long the backfill of each way is measured, milliseconds. */
const BACKFILL_MS = sizeOf({ quick: 3000, long: 15_000 });
/** More than a sync reads one by one, so that the node is asked what has changed. */
const CHANGES = 24_000;

type Stats = { readonly bytes: number; readonly asked: Readonly<Record<string, number>> };
type Measured = {
  readonly escrows: number;
  readonly first: Cost;
  readonly idle: Cost;
  readonly catchUp: Cost;
  /** Bytes of the SQLite file. */
  readonly store: number;
  /** Events a second of the backfill by an archive, and of the one by single transactions. */
  readonly rates: ReadonlyArray<number>;
};
type Cost = {
  readonly bytes: number;
  readonly requests: number;
  readonly ms: number;
  readonly cpuMs: number;
  readonly rssMiB: number;
};

const runChild = async <A>(script: string, ...args: ReadonlyArray<string>): Promise<A> => {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, script), ...args], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`${script} failed`);
  return JSON.parse(text) as A;
};

const statsOf = async (url: string): Promise<Stats> =>
  (await (await fetch(`${url}/stats`)).json()) as Stats;
const sum = (asked: Stats["asked"]): number =>
  Object.values(asked).reduce((total, count) => total + count, 0);

const costOf = async (url: string, folder: string): Promise<Cost> => {
  await statsOf(url);
  const synced = await runChild<SyncedOnce>("../simulation/sync-once.ts", url, folder);
  const { bytes, asked } = await statsOf(url);
  return { bytes, requests: sum(asked), ...synced };
};

const measure = async (escrows: number): Promise<Measured> => {
  const folder = mkdtempSync(join(tmpdir(), "settlement-scale-"));
  const server = Bun.spawn(
    [process.execPath, join(import.meta.dir, "support/servers/serve-paging.ts"), String(escrows)],
    { stdout: "pipe", stderr: "inherit" },
  );
  try {
    const reader = server.stdout.getReader();
    const url = new TextDecoder().decode((await reader.read()).value).trim();
    const first = await costOf(url, folder);
    const store = statSync(join(folder, "index.sqlite")).size;
    const idle = await costOf(url, folder);
    await fetch(`${url}/refund/${CHANGES}`);
    const catchUp = await costOf(url, folder);
    const rates: Array<number> = [];
    for (const way of ["transactions", "nothing"]) {
      await fetch(`${url}/offer/${way}`);
      await statsOf(url);
      const spent = await runChild<{ readonly ms: number }>(
        "support/backfill-once.ts",
        url,
        folder,
        String(BACKFILL_MS),
      );
      const { asked } = await statsOf(url);
      const events =
        way === "transactions"
          ? 100 * (asked["getTransactionsForAddress"] ?? 0)
          : (asked["getTransaction"] ?? 0);
      rates.push((events / spent.ms) * 1000);
    }
    return { escrows, first, store, idle, catchUp, rates };
  } finally {
    server.kill();
    await server.exited;
    rmSync(folder, { recursive: true });
  }
};

const UNITS = { bytes: "MB", requests: "", ms: "s", cpuMs: "s", rssMiB: "MiB" } as const;
const SCALE = { bytes: 1e6, requests: 1, ms: 1000, cpuMs: 1000, rssMiB: 1 } as const;
const tell = (name: string, figure: number, unit: string, ratio = ""): void =>
  report({ name, goal: "", figure, unit, ratio, pass: null });

const measured: Array<Measured> = [];
for (const escrows of SIZES) {
  const one = await measure(escrows);
  measured.push(one);
  for (const path of ["first", "idle", "catchUp"] as const)
    for (const what of ["bytes", "requests", "ms", "cpuMs", "rssMiB"] as const)
      tell(`${path} ${escrows}: ${what}`, one[path][what] / SCALE[what], UNITS[what]);
  tell(`store ${escrows}`, one.store / 1e6, "MB");
  tell(`backfill by archive ${escrows}`, one.rates[0] ?? 0, "/s");
  tell(`backfill one by one ${escrows}`, one.rates[1] ?? 0, "/s");
}

const [small, large] = [measured[0], measured.at(-1)];
if (small !== undefined && large !== undefined && small !== large) {
  /** The line through both sizes, at the target. */
  const at = (of: (one: Measured) => number): number =>
    of(large) +
    ((of(large) - of(small)) / (large.escrows - small.escrows)) * (TARGET - large.escrows);
  for (const path of ["first", "catchUp"] as const)
    for (const what of ["bytes", "requests", "ms", "cpuMs", "rssMiB"] as const)
      tell(
        `${path} at ${TARGET}: ${what}`,
        at((one) => one[path][what]) / SCALE[what],
        UNITS[what],
        "extrapolated",
      );
  tell(`store at ${TARGET}`, at(({ store }) => store) / 1e6, "MB", "extrapolated");
}

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Effect } from "effect";
import { sha256Bun } from "../../adapters/bun/sha256.ts";
import { indexSqlite } from "../../adapters/sqlite/index-store.ts";
import { provideSha256 } from "../../core/domain/sha256.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { walletOf } from "../simulation/world-escrow.ts";
import { report, sizeOf, times } from "./support/report.ts";
import { bareSqlite } from "./support/bare-sqlite.ts";
import { applied, built, pages } from "./support/store-work.ts";

// The service sets the same function when it starts.
provideSha256(sha256Bun);

const { values } = parseArgs({ options: { rows: { type: "string" } } });
const SIZES =
  values.rows === undefined
    ? sizeOf({ quick: [20_000], long: [100_000] })
    : values.rows.split(",").map(Number);
/** The most rows of the yardstick. Its rate falls with the number of rows, so a limit favours it. */
const APPLIED_ROWS = 200_000;
const PAGES = 4000;
const folder = mkdtempSync(join(tmpdir(), "settlement-bench-"));
const run = Effect.runPromise;

const storeOf = (name: string) =>
  indexSqlite({
    path: join(folder, name, "index.sqlite"),
    logFolder: join(folder, name, "log"),
    genesisHash: walletOf("genesis"),
    deployment: LOCAL_DEPLOYMENT,
  });

const perRow = new Map<number, number>();
for (const rows of SIZES) {
  const yardstickRows = Math.min(rows, APPLIED_ROWS);
  const yardstick = await run(Effect.provide(applied(yardstickRows), storeOf(`${rows}-applied`)));
  const { build, read } = await run(
    Effect.provide(
      Effect.gen(function* () {
        return { build: yield* built(rows), read: yield* pages(rows, PAGES) };
      }),
      storeOf(`${rows}`),
    ),
  );
  const bare = await run(bareSqlite(join(folder, `${rows}-bare`, "index.sqlite"), yardstickRows));
  const bareRate = (yardstickRows / bare.ms) * 1000;
  report({
    name: `bare SQLite, ${yardstickRows} encoded rows in order`,
    goal: "",
    figure: bareRate,
    unit: "/s",
    ratio: `${((bare.cpuMs * 1000) / yardstickRows).toFixed(1)} us of CPU a row`,
    pass: null,
  });
  const rate = (rows / build.ms) * 1000;
  const appliedRate = (yardstickRows / yardstick.ms) * 1000;
  report({
    name: `first snapshot of ${rows} escrows into SQLite`,
    goal: ">= 100000/s",
    figure: rate,
    unit: "/s",
    ratio: `${times(rate, appliedRate)} the rows applied, ${times(rate, bareRate)} bare SQLite`,
    pass: rate >= 100_000 && rate / appliedRate >= 3.5,
  });
  report({
    name: `its CPU time, ${rows} escrows`,
    goal: "",
    figure: (build.cpuMs * 1000) / rows,
    unit: "us/row",
    ratio: `${times((build.cpuMs * yardstickRows) / rows, yardstick.cpuMs)} the rows applied`,
    pass: null,
  });
  report({
    name: `its memory, ${rows} escrows`,
    goal: "< 600 MiB",
    figure: build.rssMiB,
    unit: "MiB",
    ratio: "",
    pass: build.rssMiB < 600,
  });
  report({
    name: `any page of 50 of ${rows} at the port`,
    goal: ">= 5000/s",
    figure: read.perSecond,
    unit: "/s",
    ratio: `p50 ${read.p50Us.toFixed(0)} us, p99 ${read.p99Us.toFixed(0)} us`,
    pass: read.perSecond >= 5000,
  });
  perRow.set(rows, build.cpuMs / rows);
}
const [smallest, largest] = [Math.min(...SIZES), Math.max(...SIZES)];
if (smallest !== largest) {
  const growth = (perRow.get(largest) ?? 0) / (perRow.get(smallest) ?? 1);
  report({
    name: `CPU time of a row, ${largest} escrows beside ${smallest}`,
    goal: "<= 1.3x",
    figure: growth,
    unit: "x",
    ratio: "",
    pass: growth <= 1.3,
  });
}
rmSync(folder, { recursive: true });

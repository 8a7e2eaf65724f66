import { parseArgs } from "node:util";
import { loadavg } from "node:os";
import { Effect, Layer, Redacted } from "effect";
import { sha256Bun } from "../../adapters/bun/sha256.ts";
import { indexPostgres } from "../../adapters/postgres/index-store.ts";
import { postgresStore } from "../../adapters/postgres/postgres-store.ts";
import { provideSha256 } from "../../core/domain/sha256.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { serverPrograms, startCluster } from "../adapters/postgres/temporary-cluster.ts";
import { walletOf } from "../simulation/world-escrow.ts";
import { report, sizeOf, times } from "./support/report.ts";
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
const PAGES = 1000;

const programs = serverPrograms();
if (programs === undefined) {
  process.stderr.write("PostgreSQL is not installed: nothing is measured.\n");
  process.exit(0);
}
const cluster = await startCluster(programs);
try {
  const storeOf = (schema: string) => {
    const url = new URL(cluster.url);
    url.searchParams.set("schema", schema);
    return indexPostgres({ genesisHash: walletOf("genesis"), deployment: LOCAL_DEPLOYMENT }).pipe(
      Layer.provide(postgresStore({ url: Redacted.make(url), directUrl: null })),
    );
  };
  for (const rows of SIZES) {
    const yardstickRows = Math.min(rows, APPLIED_ROWS);
    const yardstick = await Effect.runPromise(
      Effect.provide(applied(yardstickRows), storeOf(`applied_${rows}`)),
    );
    const { build, read } = await Effect.runPromise(
      Effect.provide(
        Effect.gen(function* () {
          return { build: yield* built(rows), read: yield* pages(rows, PAGES) };
        }),
        storeOf(`built_${rows}`),
      ),
    );
    const rate = (rows / build.ms) * 1000;
    const appliedRate = (yardstickRows / yardstick.ms) * 1000;
    report({
      name: `first snapshot of ${rows} escrows into Postgres`,
      goal: ">= 4x the rows applied",
      figure: rate,
      unit: "/s",
      ratio: `${times(rate, appliedRate)} the rows applied`,
      pass: rate / appliedRate >= 4,
    });
    report({
      name: `the rows applied, ${yardstickRows} escrows`,
      goal: "",
      figure: appliedRate,
      unit: "/s",
      ratio: `load average ${loadavg()[0]?.toFixed(1)}`,
      pass: null,
    });
    report({
      name: `its memory in this process, ${rows} escrows`,
      goal: "< 600 MiB",
      figure: build.rssMiB,
      unit: "MiB",
      ratio: "",
      pass: build.rssMiB < 600,
    });
    report({
      name: `any page of 50 of ${rows} at the port, Postgres`,
      goal: "",
      figure: read.perSecond,
      unit: "/s",
      ratio: `p50 ${read.p50Us.toFixed(0)} us, p99 ${read.p99Us.toFixed(0)} us`,
      pass: null,
    });
  }
} finally {
  await cluster.stop();
}

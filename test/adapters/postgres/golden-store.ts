import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { Effect } from "effect";
import { answersOf, GOLDEN, goldenChanges, textOf } from "../sqlite/golden-store.ts";
import { serverPrograms, startCluster } from "./temporary-cluster.ts";
import { withStore } from "./test-database.ts";

/** The schema whose name stands in the dumps. */
export const GOLDEN_SCHEMA = "golden";

/** The address of the golden schema on a server. */
export const goldenStore = (server: string): URL => {
  const url = new URL(server);
  url.searchParams.set("schema", GOLDEN_SCHEMA);
  return url;
};

/** The statements of a dump that any version of the server takes: settings and comments are left out. */
const statementsOf = (dump: string): string =>
  dump
    .split("\n")
    .filter((line) => line !== "" && !/^(--|SET |SELECT pg_catalog|\\)/.test(line))
    .join("\n");

// Run by a person, once for each schema that is released: writes a dump of a store of the schema version argv[2], and its answers.
if (import.meta.main) {
  const version = process.argv[2] ?? "";
  const programs = serverPrograms();
  if (programs === undefined) throw new Error("PostgreSQL is not installed");
  const cluster = await startCluster(programs);
  try {
    const answers = await Effect.runPromise(
      withStore(goldenStore(cluster.url), (index) =>
        Effect.gen(function* () {
          yield* index.writer.apply(goldenChanges());
          yield* index.log.replaceStanding(null, '{"size":22}');
          return yield* answersOf(index);
        }),
      ),
    );
    const asked = [join(programs, "pg_dump"), "--no-owner", "--inserts", "--schema", GOLDEN_SCHEMA];
    const { exitCode, stdout, stderr } = Bun.spawnSync([...asked, cluster.url]);
    if (exitCode !== 0) throw new Error(stderr.toString());
    const sql = Buffer.from(`${statementsOf(stdout.toString())}\n`);
    writeFileSync(join(GOLDEN, `postgres-${version}.sql.gz`), Bun.gzipSync(sql));
    writeFileSync(join(GOLDEN, `postgres-answers-${version}.json`), `${textOf(answers)}\n`);
  } finally {
    await cluster.stop();
  }
}

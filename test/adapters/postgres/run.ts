import { readCommandLine } from "../../../app/command-line/command-line.ts";
import { hasPooler, startPooler } from "./pooler.ts";
import { serverPrograms, startCluster } from "./temporary-cluster.ts";

const HELP = `Runs the tests that need a Postgres server (*.postgres.ts), or those whose path holds one of the names, on a server that is
started for them and gone afterwards.

usage: bun run test:more postgres [options] [name...]

  --pooled       through PgBouncer in transaction mode, with ops/pgbouncer.ini
  --except NAME  without those whose path holds NAME
  --help         this text
`;

const { values, positionals: names } = readCommandLine(
  HELP,
  { pooled: { type: "boolean", default: false }, except: { type: "string" } },
  ["[name...]"],
);
const programs = serverPrograms();
if (programs === undefined) {
  process.stderr.write(
    "PostgreSQL is not installed. Debian and Ubuntu: apt-get install postgresql; macOS: brew install postgresql\n",
  );
  process.exit(1);
}
if (values.pooled && !hasPooler()) {
  process.stderr.write(
    "PgBouncer is not installed. Debian and Ubuntu: apt-get install pgbouncer\n",
  );
  process.exit(1);
}
const files = [
  ...new Bun.Glob(
    values.pooled ? "test/**/*.{postgres,pooled}.ts" : "test/**/*.postgres.ts",
  ).scanSync(),
]
  // What the client package keeps for sellers takes a client of theirs, which sets its own sessions.
  .filter((file) => !values.pooled || !file.startsWith("test/client/"))
  .filter((file) => values.except === undefined || !file.includes(values.except))
  .filter((file) => names.length === 0 || names.some((name) => file.includes(name)))
  .map((file) => `./${file}`);
if (files.length === 0) {
  process.stderr.write(`No test on Postgres is named ${names.join(" or ")}\n`);
  process.exit(1);
}
const cluster = await startCluster(programs);
const pooler = values.pooled ? await startPooler(cluster.url) : null;
const addresses =
  pooler === null
    ? { TEST_DATABASE_URL: cluster.url }
    : { TEST_DATABASE_URL: pooler.url, TEST_DATABASE_DIRECT_URL: cluster.url };
const tests = Bun.spawn([process.execPath, "test", "--timeout", "600000", ...files], {
  env: { ...process.env, ...addresses },
  stdio: ["inherit", "inherit", "inherit"],
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => tests.kill(signal));
await tests.exited;
await pooler?.stop();
await cluster.stop();
process.exit(tests.exitCode ?? 1);

import { serverPrograms, startCluster } from "./temporary-cluster.ts";

// `bun run test:postgres [-- bun test's arguments]`: the tests that need a Postgres server, on one that is
// started for them and gone afterwards.
const programs = serverPrograms();
if (programs === undefined) {
  process.stderr.write(
    "PostgreSQL is not installed. Debian and Ubuntu: apt-get install postgresql; macOS: brew install postgresql\n",
  );
  process.exit(1);
}
const cluster = await startCluster(programs);
const given = process.argv.slice(2);
const tests = Bun.spawn(
  [
    process.execPath,
    "test",
    "--timeout",
    "600000",
    ...(given.length > 0 ? given : ["postgres", "replicas"]),
  ],
  {
    env: { ...process.env, TEST_DATABASE_URL: cluster.url },
    stdio: ["inherit", "inherit", "inherit"],
  },
);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => tests.kill(signal));
await tests.exited;
await cluster.stop();
process.exit(tests.exitCode ?? 1);

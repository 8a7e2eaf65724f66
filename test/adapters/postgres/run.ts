import { readCommandLine } from "../../../app/command-line/command-line.ts";
import { serverPrograms, startCluster } from "./temporary-cluster.ts";

const HELP = `Runs the tests that need a Postgres server (*.postgres.ts), or those whose path holds one of the names, on a server that is
started for them and gone afterwards.

usage: bun run test:more postgres [name...]

  --help   this text
`;

const { positionals: names } = readCommandLine(HELP, {}, ["[name...]"]);
const programs = serverPrograms();
if (programs === undefined) {
  process.stderr.write(
    "PostgreSQL is not installed. Debian and Ubuntu: apt-get install postgresql; macOS: brew install postgresql\n",
  );
  process.exit(1);
}
const files = [...new Bun.Glob("test/**/*.postgres.ts").scanSync()]
  .filter((file) => names.length === 0 || names.some((name) => file.includes(name)))
  .map((file) => `./${file}`);
if (files.length === 0) {
  process.stderr.write(`No test on Postgres is named ${names.join(" or ")}\n`);
  process.exit(1);
}
const cluster = await startCluster(programs);
const tests = Bun.spawn([process.execPath, "test", "--timeout", "600000", ...files], {
  env: { ...process.env, TEST_DATABASE_URL: cluster.url },
  stdio: ["inherit", "inherit", "inherit"],
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => tests.kill(signal));
await tests.exited;
await cluster.stop();
process.exit(tests.exitCode ?? 1);

import { join } from "node:path";
import { LEDGER_VARIANTS } from "./fixture/ledger-variant.ts";

/*
 * Runs test/programs on every variant of the ledger: both files of each program, with LiteSVM's features and with all.
 * What looks at the files and at every variant by itself runs once. With --quick only on the last one, which has nothing
 * in common with the one that `bun run test` runs them on. Further arguments go to each run. Ends with the totals, as a
 * test runner does.
 */

const args = process.argv.slice(2);
const isQuick = args.includes("--quick");
const ONCE = ["build/**", "codama/defaults.test.ts"];
const root = join(import.meta.dir, "../..");
const sums = { pass: 0, fail: 0 };
let failed = false;
for (const variant of LEDGER_VARIANTS.slice(isQuick ? -1 : 0)) {
  const { elf, features } = variant;
  console.log(`\n== ${elf} files, ${features} features`);
  const run = Bun.spawn(
    [
      process.execPath,
      "test",
      "test/programs",
      "--timeout",
      "60000",
      ...(variant === LEDGER_VARIANTS[0]
        ? []
        : ONCE.flatMap((path) => ["--path-ignore-patterns", `**/test/programs/${path}`])),
      ...args.filter((each) => each !== "--quick"),
    ],
    {
      cwd: root,
      env: { LOG_EVENTS: "2000", ...process.env, PROGRAMS_ELF: elf, PROGRAMS_FEATURES: features },
      stdout: "inherit",
      stderr: "pipe",
    },
  );
  const [status, report] = await Promise.all([run.exited, new Response(run.stderr).text()]);
  if (status !== 0) {
    failed = true;
    console.log(report);
  }
  for (const kind of ["pass", "fail"] as const) {
    const count = Number(new RegExp(`^ *(\\d+) ${kind}$`, "m").exec(report)?.[1] ?? Number.NaN);
    if (Number.isNaN(count)) throw new Error(`the test runner ended without a summary:\n${report}`);
    console.log(` ${count} ${kind}`);
    sums[kind] += count;
  }
}
console.log(`\n== all variants\n ${sums.pass} pass\n ${sums.fail} fail`);
process.exit(failed ? 1 : 0);

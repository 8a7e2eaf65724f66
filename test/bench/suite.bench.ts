import { join } from "node:path";
import { isQuick, report } from "./support/report.ts";

const ROOT = join(import.meta.dir, "../..");

/** Wall seconds of the whole suite, run like package.json does, and whether it passed. */
const runSuite = async (): Promise<{ readonly seconds: number; readonly passed: boolean }> => {
  // The bench runs with NODE_ENV=production, which users of the suite do not set.
  const { NODE_ENV: _, BENCH_QUICK: __, ...env } = process.env;
  const startMs = performance.now();
  const child = Bun.spawn([process.execPath, "run", "test"], {
    cwd: ROOT,
    env,
    stdout: "ignore",
    stderr: "pipe",
  });
  const [said, code] = await Promise.all([new Response(child.stderr).text(), child.exited]);
  const seconds = (performance.now() - startMs) / 1000;
  const failed = said.split("\n").filter((line) => line.startsWith("(fail)"));
  if (code !== 0) process.stderr.write(`the suite ended with ${code}\n${failed.join("\n")}\n`);
  return { seconds, passed: code === 0 };
};

// Skipped in the short run: the suite alone takes longer than the rest of it.
if (!isQuick) {
  const { seconds, passed } = await runSuite();
  report({
    name: "the whole fast test suite",
    goal: "< 30 s",
    figure: seconds,
    unit: "s",
    ratio: passed ? "" : "tests failed",
    pass: passed && seconds < 30,
  });
}

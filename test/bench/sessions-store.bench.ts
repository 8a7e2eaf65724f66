import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cpuSecondsOf, startOnOneCore } from "./support/child.ts";
import { report, sizeOf } from "./support/report.ts";

const CALLS = sizeOf({ quick: 4_000, long: 1_000_000 });
const JOURNAL_BYTES = sizeOf({ quick: 65_536, long: 1_048_576 });
/** What may be in memory beside the open sessions: what the journal has and the sessions' own files do not have yet. */
const MOST_GROWTH = 16_777_216;
const MOST_DISK = 350;

// In memory where Linux offers that: what is measured is how much is written, not how fast a disk syncs.
const root = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
const folder = mkdtempSync(join(root, "settlement-bench-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

type Told = { readonly heapBytes: number; readonly diskBytes: number };

const engine = await startOnOneCore(
  `${import.meta.dir}/support/servers/answer-calls.ts`,
  join(folder, "sessions"),
  String(CALLS),
  String(JOURNAL_BYTES),
);
const first = JSON.parse(await engine.line()) as Told;
const before = cpuSecondsOf(engine.pid);
const last = JSON.parse(await engine.line()) as Told;
const seconds = cpuSecondsOf(engine.pid) - before;
await engine.stop();

report({
  name: "the engine alone: agent's vouchers and seller, in files",
  goal: "",
  figure: (0.9 * CALLS) / seconds,
  unit: "/s a core",
  ratio: "",
  pass: null,
});
report({
  name: `disk a call of ${CALLS}, its journal included`,
  goal: `<= ${MOST_DISK} bytes`,
  figure: last.diskBytes / CALLS,
  unit: "bytes",
  ratio: "",
  pass: last.diskBytes / CALLS <= MOST_DISK,
});
const growth = last.heapBytes - first.heapBytes;
report({
  name: `heap after ${CALLS} calls beside that after a tenth`,
  goal: `<= ${MOST_GROWTH / 1_048_576} MiB more`,
  figure: growth / 1_048_576,
  unit: "MiB",
  ratio: `${(last.heapBytes / 1_048_576).toFixed(1)} MiB in all`,
  pass: growth <= MOST_GROWTH,
});

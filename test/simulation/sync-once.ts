import { Exit } from "effect";
import { sha256Bun } from "../../adapters/bun/sha256.ts";
import { provideSha256 } from "../../core/domain/sha256.ts";
import { IndexReader } from "../../ports/index/index-reader.ts";
import { openIndexOfNode } from "./index-of-node.ts";
import { rootOf } from "../../core/log/tree/frontier.ts";

/** What one sync in a process of its own did, and what it cost. Times are milliseconds of that process. */
export type SyncedOnce = {
  readonly mode: string;
  readonly count: string;
  readonly root: string;
  readonly escrows: number;
  readonly merchants: number;
  readonly eventsAdded: number;
  readonly ms: number;
  readonly cpuMs: number;
  readonly rssMiB: number;
};

// Run as a process: syncs the index in the folder argv[3] once from the node at argv[2], keeps an unfinished snapshot
// there, and prints a `SyncedOnce`. Ends with 1 when the sync fails.
const [url = "", folder = ""] = process.argv.slice(2);
provideSha256(sha256Bun);
let rssMiB = 0;
const watch = setInterval(() => {
  rssMiB = Math.max(rssMiB, process.memoryUsage.rss() / 1024 / 1024);
}, 50);
const index = await openIndexOfNode({
  url,
  path: `${folder}/index.sqlite`,
  spool: `${folder}/snapshot.spool`,
});
const startMs = performance.now();
const cpu = process.cpuUsage();
const exit = await index.sync();
const { user, system } = process.cpuUsage(cpu);
const ms = performance.now() - startMs;
const summary = await index.run(IndexReader.use((reader) => reader.summary));
await index.close();
clearInterval(watch);
if (Exit.isFailure(exit) || Exit.isFailure(summary)) {
  process.stderr.write(`${Bun.inspect(exit)}\n`);
  process.exit(1);
}
const { mode, eventsAdded } = exit.value;
const { escrows, merchants, mark } = summary.value;
const synced: SyncedOnce = {
  mode,
  count: String(mark?.count),
  root: mark === null ? "" : rootOf(mark),
  escrows,
  merchants,
  eventsAdded,
  ms,
  cpuMs: (user + system) / 1000,
  rssMiB,
};
process.stdout.write(`${JSON.stringify(synced)}\n`);

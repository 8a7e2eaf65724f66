import { Effect } from "effect";
import { sha256Bun } from "../../../adapters/bun/sha256.ts";
import { provideSha256 } from "../../../core/domain/sha256.ts";
import { backfillTransactions } from "../../../core/use-cases/index/sync/events/backfill-transactions.ts";
import { BackfillCheckpoints } from "../../../ports/index/index-writer.ts";
import { openIndexOfNode } from "../../simulation/index-of-node.ts";

// Run as a process: searches the transactions of the events of the index in the folder argv[3] at the node argv[2] for
// argv[4] milliseconds or to the end, and prints the wall and CPU milliseconds.
const [url = "", folder = "", most = "0"] = process.argv.slice(2);
provideSha256(sha256Bun);
const index = await openIndexOfNode({ url, path: `${folder}/index.sqlite` });
const startMs = performance.now();
const cpu = process.cpuUsage();
await index.run(
  backfillTransactions().pipe(
    Effect.provideService(BackfillCheckpoints, {
      load: Effect.succeed(null),
      save: () => Effect.void,
    }),
    Effect.timeoutOrElse({ duration: Number(most), orElse: () => Effect.void }),
  ),
);
const { user, system } = process.cpuUsage(cpu);
const ms = performance.now() - startMs;
await index.close();
process.stdout.write(`${JSON.stringify({ ms, cpuMs: (user + system) / 1000 })}\n`);

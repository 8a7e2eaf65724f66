import { Effect } from "effect";
import { numberedMark, numberedRows } from "../sqlite/numbered-batch.ts";
import { withStore } from "./test-database.ts";

// Run as a process by build.postgres.ts: builds the store at argv[2] of the numbered batches up to argv[3], prints a
// number for each one added, and the last one again once the build is finished.
const [url = "", text = "0"] = process.argv.slice(2);
const last = Number(text);
const tell = (number: number) => process.stdout.write(`${number}\n`);

await Effect.runPromise(
  withStore(new URL(url), ({ writer }) =>
    Effect.scoped(
      Effect.gen(function* () {
        const build = yield* writer.build;
        for (let number = 1; number <= last; number++) {
          yield* build.add({ escrows: numberedRows(number), unseen: [], merchants: [] });
          tell(number);
        }
        yield* build.finish(numberedMark(last));
        tell(last);
      }),
    ),
  ),
);

import { Effect } from "effect";
import { numberedBatch, numberedMark, numberedRows } from "./numbered-batch.ts";
import { withStore } from "./test-store.ts";

// Run as a process by the crash tests. With argv[2] `apply`, it applies the numbered batches that the store at argv[3]
// does not have yet, up to argv[4], and prints the number of each once it is applied. With `build`, it builds the store
// of them, prints a number for each batch added, and the last one again once it is finished.
const [work = "", path = "", text = "0"] = process.argv.slice(2);
const last = Number(text);
const tell = (number: number) => process.stdout.write(`${number}\n`);

const program = withStore(path, ({ reader, writer }) =>
  Effect.scoped(
    Effect.gen(function* () {
      if (work === "apply") {
        const { mark } = yield* reader.summary;
        for (let number = Number(mark?.slot ?? 0n) + 1; number <= last; number++) {
          yield* writer.apply(numberedBatch(number));
          tell(number);
        }
        return;
      }
      const build = yield* writer.build;
      for (let number = 1; number <= last; number++) {
        yield* build.add({ escrows: numberedRows(number), unseen: [], merchants: [] });
        tell(number);
      }
      yield* build.finish(numberedMark(last));
      tell(last);
    }),
  ),
);
await Effect.runPromise(program);

import { Effect } from "effect";
import { escrowIndexSqlite } from "../../../adapters/sqlite/escrow-index.ts";
import { EscrowIndex } from "../../../ports/escrow-index.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../../arbitraries/test-ledger.ts";
import { numberedBatch } from "./numbered-batch.ts";

// Run as a process by the crash test: applies the numbered batches that the store at argv[2] does
// not have yet, up to argv[3], and prints the number of each once it is applied.
const [path = "", last = "0"] = process.argv.slice(2);
const program = EscrowIndex.use((index) =>
  Effect.gen(function* () {
    const { checkpoint } = yield* index.summary;
    for (let number = Number(checkpoint?.slot ?? 0n) + 1; number <= Number(last); number++) {
      yield* index.apply(numberedBatch(number));
      process.stdout.write(`${number}\n`);
    }
  }),
);
await Effect.runPromise(
  Effect.provide(
    program,
    escrowIndexSqlite({ path, genesisHash: TEST_GENESIS_HASH, deployment: TEST_DEPLOYMENT }),
  ),
);

import { dirname, join } from "node:path";
import { Effect } from "effect";
import { indexMemory } from "../../../adapters/memory/index-store.ts";
import { indexSqlite } from "../../../adapters/sqlite/index-store.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../../arbitraries/test-ledger.ts";
import { type Index, withIndexOf } from "../../contracts/fresh-index.ts";
import { everything } from "../../contracts/index-content.ts";
import { numberedBatch } from "./numbered-batch.ts";

/** The ledger of the stores in these tests. */
export const TEST_LEDGER = { genesisHash: TEST_GENESIS_HASH, deployment: TEST_DEPLOYMENT };

/** The store at a path, with its log in a folder beside it. */
export const storeAt = (path: string, identity = TEST_LEDGER) =>
  indexSqlite({ path, logFolder: join(dirname(path), "log"), ...identity });

/** Opens the store at a path, runs a program on it and closes it. */
export const withStore = <A, E>(
  path: string,
  program: (index: Index) => Effect.Effect<A, E>,
  identity = TEST_LEDGER,
) => withIndexOf(storeAt(path, identity), program);

/** Applies the numbered batches up to one. */
export const applyNumbered =
  (last: number, first = 1) =>
  ({ writer }: Index) =>
    Effect.forEach(
      Array.from({ length: last - first + 1 }, (_, at) => first + at),
      (number) => writer.apply(numberedBatch(number)),
      { discard: true },
    );

/** What an index holds after numbered batches that nothing interrupted. */
export const uninterrupted = (last: number) =>
  Effect.runPromise(
    withIndexOf(indexMemory(), (index) =>
      Effect.andThen(applyNumbered(last)(index), everything(index)),
    ),
  );

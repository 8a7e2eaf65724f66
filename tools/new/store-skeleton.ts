import { NameRefused, pascal, type Skeleton } from "./skeleton.ts";

/**
 * An adapter of the index, every method of which fails, and its test: the port's contract suite.
 * @throws NameRefused unless the name is one lower-case word or several with hyphens between.
 */
export const storeSkeleton = (name: string): Skeleton => {
  if (!/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(name))
    throw new NameRefused(
      `${name} is no name of a store; write a folder's name in small letters, such as duckdb`,
    );
  const layer = `index${pascal(name)}`;
  const adapter = `import { Context, Effect, Layer } from "effect";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import { IndexReader } from "../../ports/index/index-reader.ts";
import { IndexWriter } from "../../ports/index/index-writer.ts";
import { LogStore } from "../../ports/log/log-store.ts";
import { StoreUnavailable } from "../../ports/index/store-unavailable.ts";

/** The ledger and programs whose rows a store holds. */
type LedgerIdentity = { readonly genesisHash: string; readonly deployment: Deployment };

const toWrite = (method: string) =>
  Effect.fail(
    new StoreUnavailable({
      retryable: false,
      cause: new Error(\`\${method} is still to be written\`),
    }),
  );

/** The index and the log's store in ${name}. */
export const ${layer} = (
  _ledger: LedgerIdentity,
): Layer.Layer<IndexReader | IndexWriter | LogStore> =>
  Layer.succeedContext(
    Context.make(IndexReader, {
      escrows: () => toWrite("escrows"),
      escrowsAt: () => toWrite("escrowsAt"),
      events: () => toWrite("events"),
      merchants: () => toWrite("merchants"),
      sameNames: () => toWrite("sameNames"),
      summary: toWrite("summary"),
    }).pipe(
      Context.add(IndexWriter, {
        apply: () => toWrite("apply"),
        merchantsAt: () => toWrite("merchantsAt"),
        unseen: () => toWrite("unseen"),
        build: toWrite("build"),
      }),
      Context.add(LogStore, {
        leaves: () => toWrite("leaves"),
        tile: () => toWrite("tile"),
        keepTiles: () => toWrite("keepTiles"),
        standing: toWrite("standing"),
        isWriter: toWrite("isWriter"),
        replaceStanding: () => toWrite("replaceStanding"),
      }),
    ),
  );
`;
  const test = `import { ${layer} } from "../../../adapters/${name}/index-store.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../../arbitraries/test-ledger.ts";
import { indexStoreContract } from "../../contracts/index-store.ts";

indexStoreContract(
  "${layer}",
  () => ${layer}({ genesisHash: TEST_GENESIS_HASH, deployment: TEST_DEPLOYMENT }),
  40,
);
`;
  return {
    files: {
      [`adapters/${name}/index-store.ts`]: adapter,
      [`test/adapters/${name}/index-store.test.ts`]: test,
    },
    next: [
      `adapters/${name}/index-store.ts: every method, as ports/index/index-reader.ts, index-writer.ts and log-store.ts say; bun test test/adapters/${name} passes`,
      "the store of another ledger or another version is refused with the errors of ports/index/store-refusal.ts",
      `adapters/${name}/outcome-log.ts with test/contracts/outcome-log.ts, and settled-packets.ts with its contract, in the same way`,
      "app/config/environment.ts and settings.ts: the setting that chooses it, with a test in test/app/settings.test.ts; docs/settings.md is written anew",
      "app/stores/storage.ts: the choice; a Storage that lacks a part does not compile",
      "app/doctor/check-store.ts: what bun run doctor says of it, without writing into it; bun run check and bun run test pass",
    ],
  };
};

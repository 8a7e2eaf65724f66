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
  const layer = `escrowIndex${pascal(name)}`;
  const adapter = `import { Effect, Layer } from "effect";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import { EscrowIndex, StoreUnavailable } from "../../ports/escrow-index.ts";

/** The ledger and programs whose rows a store holds. */
type LedgerIdentity = { readonly genesisHash: string; readonly deployment: Deployment };

const toWrite = (method: string) =>
  Effect.fail(
    new StoreUnavailable({
      retryable: false,
      cause: new Error(\`\${method} is still to be written\`),
    }),
  );

/** The index in ${name}. */
export const ${layer} = (_ledger: LedgerIdentity): Layer.Layer<EscrowIndex> =>
  Layer.succeed(EscrowIndex, {
    apply: () => toWrite("apply"),
    escrows: () => toWrite("escrows"),
    escrowsAt: () => toWrite("escrowsAt"),
    events: () => toWrite("events"),
    eventsAfter: () => toWrite("eventsAfter"),
    eventsWithoutReference: () => toWrite("eventsWithoutReference"),
    eventsOfEscrow: () => toWrite("eventsOfEscrow"),
    merchants: () => toWrite("merchants"),
    sameNames: () => toWrite("sameNames"),
    summary: toWrite("summary"),
    revision: toWrite("revision"),
  });
`;
  const test = `import { ${layer} } from "../../../adapters/${name}/escrow-index.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../../arbitraries/test-ledger.ts";
import { escrowIndexContract } from "../../contracts/escrow-index.ts";

escrowIndexContract(
  "${layer}",
  () => ${layer}({ genesisHash: TEST_GENESIS_HASH, deployment: TEST_DEPLOYMENT }),
  40,
);
`;
  return {
    files: {
      [`adapters/${name}/escrow-index.ts`]: adapter,
      [`test/adapters/${name}/escrow-index.test.ts`]: test,
    },
    next: [
      `adapters/${name}/escrow-index.ts: every method, as ports/escrow-index.ts says; bun test test/adapters/${name} passes`,
      "the store of another ledger or a newer version is refused with the errors of ports/store-refusal.ts",
      `adapters/${name}/outcome-log.ts with test/contracts/outcome-log.ts, in the same way`,
      "app/config/environment.ts and settings.ts: the setting that chooses it, with a test in test/app/settings.test.ts and a row in README.md",
      "app/layers.ts: the choice, in storage; bun run check and bun run test pass",
    ],
  };
};

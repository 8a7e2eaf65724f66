import { fileURLToPath } from "node:url";
import { Data, Effect, type Scope } from "effect";
import { type ChildEnd, runChild } from "../bun/child-process.ts";

/** The local ledger's process ended before it was ready. */
export class LocalLedgerDidNotStart extends Data.TaggedError("LocalLedgerDidNotStart")<{
  /** The end of its output, for the operator. */
  readonly reason: string;
}> {}

/** Where a local ledger listens. */
export type LedgerAddresses = { readonly rpcUrl: string; readonly webSocketUrl: string };

/** A running ledger process. */
export type LedgerProcess = LedgerAddresses & {
  readonly pid: number;
  readonly ended: Effect.Effect<ChildEnd>;
};

const MAIN = fileURLToPath(new URL("./main.ts", import.meta.url));
/** Time to restore a ledger of a million accounts. */
const START_TIMEOUT = "60 seconds";

/**
 * Runs a ledger in a process of its own until the scope closes. Succeeds when the ledger is ready. The child ends when
 * this process ends for any reason, because its standard input closes.
 */
export const startLedgerProcess = (
  args: ReadonlyArray<string>,
): Effect.Effect<LedgerProcess, LocalLedgerDidNotStart, Scope.Scope> =>
  Effect.gen(function* () {
    const child = yield* runChild(MAIN, ["--supervised", ...args]);
    const line = yield* child.firstLine.pipe(
      Effect.timeoutOrElse({
        duration: START_TIMEOUT,
        orElse: () =>
          Effect.fail(new LocalLedgerDidNotStart({ reason: `not ready in ${START_TIMEOUT}` })),
      }),
    );
    if (line === undefined) {
      const { how, said } = yield* child.ended;
      return yield* new LocalLedgerDidNotStart({ reason: said === "" ? how : said });
    }
    const ready = JSON.parse(line) as { readonly rpc_url: string; readonly ws_url: string };
    return {
      rpcUrl: ready.rpc_url,
      webSocketUrl: ready.ws_url,
      pid: child.pid,
      ended: child.ended,
    };
  });

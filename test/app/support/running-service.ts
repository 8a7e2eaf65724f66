import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { Effect, Exit, Scope } from "effect";
import { readSettings } from "../../../app/config/settings.ts";
import { type RunningService, startService } from "../../../app/serve.ts";
import { tmpdir } from "../../temporary-root.ts";

/** The settings of a test: free ports, a directory of its own, and little log output. */
export const quietEnvironment = (dataDir: string) => ({
  DATA_DIR: dataDir,
  PORT: "0",
  LOCAL_LEDGER_PORT: "0",
  LOCAL_LEDGER_WITNESSES: "false",
  LOG_LEVEL: "error",
  LOG_FORMAT: "json",
  // Tests send more requests than people do.
  RATE_LIMIT_READS: "100000",
  RATE_LIMIT_RELAY: "100000",
  RATE_LIMIT_SYNC: "100000",
});

/** A new temporary directory, and a function that removes it. */
export const temporaryDirectory = async () => {
  const path = await mkdtemp(join(tmpdir(), "settlement-evidence-"));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
};

/** A free port of this machine. */
export const freePort = (): number => {
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
  server.stop(true);
  return server.port;
};

/** Starts a service in this process, with its ledger in a child process. `stop` ends it as SIGTERM would. */
export const runService = async (
  env: Readonly<Record<string, string>>,
): Promise<RunningService & { readonly stop: () => Promise<void> }> => {
  const scope = await Effect.runPromise(Scope.make());
  const stop = () => Effect.runPromise(Scope.close(scope, Exit.void));
  const start = Effect.flatMap(readSettings(env), (settings) => startService(settings));
  try {
    return { ...(await Effect.runPromise(Scope.provide(start, scope))), stop };
  } catch (cause) {
    await stop();
    throw cause;
  }
};

/** The newest blockhash of the ledger that the service at `url` works with. */
export const latestBlockhash = async (url: string): Promise<string> => {
  const { data } = (await (await fetch(`${url}/v1/status`)).json()) as {
    readonly data: { readonly network: { readonly rpc_address: string } };
  };
  const answer = await fetch(data.network.rpc_address, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getLatestBlockhash", params: [] }),
  });
  const { result } = (await answer.json()) as { result: { value: { blockhash: string } } };
  return result.value.blockhash;
};

/**
 * Asks until the answer fits, with pauses of a few milliseconds. @throws Error with the last answer after `seconds`.
 */
export const until = async <A>(
  what: string,
  ask: () => Promise<A>,
  fits: (answer: A) => boolean,
  seconds = 45,
): Promise<A> => {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const answer = await ask();
    if (fits(answer)) return answer;
    if (performance.now() > deadline)
      throw new Error(`not within ${seconds} s: ${what}; last: ${JSON.stringify(answer)}`);
    await Bun.sleep(20);
  }
};

/** Waits until the service at `url` is ready. */
export const untilReady = (url: string): Promise<number> =>
  until(
    "the service is ready",
    () => fetch(`${url}/ready`).then(({ status }) => status),
    (status) => status === 200,
  );

/** Waits until the service at `url` is ready and a sync that begins after that is complete. */
export const synced = async (url: string): Promise<void> => {
  await untilReady(url);
  await until(
    "a sync completes",
    () => fetch(`${url}/v1/indexer/sync`, { method: "POST" }).then(({ status }) => status),
    (status) => status === 202,
  );
};

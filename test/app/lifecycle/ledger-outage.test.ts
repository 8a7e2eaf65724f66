import { afterAll, beforeAll, expect, test } from "bun:test";
import { Effect, Exit, Scope } from "effect";
import { superviseLocalLedger } from "../../../adapters/local-ledger/supervisor.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import {
  quietEnvironment,
  runService,
  temporaryDirectory,
  until,
} from "../support/running-service.ts";
import { startShortLivedService } from "../support/service-process.ts";

type Service = Awaited<ReturnType<typeof runService>>;

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;

beforeAll(async () => {
  directory = await temporaryDirectory();
});
afterAll(() => directory.remove());

const statusOf = async ({ url }: Pick<Service, "url">): Promise<string> => {
  const answer = await fetch(`${url}/v1/status`);
  return ((await answer.json()) as { data: { status: string } }).data.status;
};
const codeOf = async ({ url }: Pick<Service, "url">, path: string, init?: RequestInit) =>
  (await fetch(url + path, init)).status;

const prepare: RequestInit = {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({
    agent_owner: "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr",
    merchant: "Ed25519SigVerify111111111111111111111111111",
    mint: "So11111111111111111111111111111111111111112",
    amount_stroops: "1",
    ttl_seconds: 60,
    task_intent: "anything",
  }),
};

/** A local ledger alone, as `bun run cli local-ledger` runs it. */
const startLedger = async (dataDir: string) => {
  const scope = await Effect.runPromise(Scope.make());
  const ledger = await Effect.runPromise(
    Scope.provide(superviseLocalLedger({ dataDir, port: 0, demo: true }), scope),
  );
  const signal = async (name: "SIGSTOP" | "SIGCONT"): Promise<void> => {
    const running = await Effect.runPromise(ledger.process);
    process.kill(running?.pid ?? 0, name);
  };
  return {
    rpcUrl: ledger.rpcUrl,
    signal,
    stop: () => Effect.runPromise(Scope.close(scope, Exit.void)),
  };
};

const remote = (dataDir: string, rpcUrl: string) => ({
  ...quietEnvironment(dataDir),
  SOLANA_RPC_URL: rpcUrl,
  CUSTODY_PROGRAM_ID: LOCAL_DEPLOYMENT.custodyProgram,
  ATTESTOR_PROGRAM_ID: LOCAL_DEPLOYMENT.attestorProgram,
});

/** How a service ends that cannot continue. */
const ending = async (env: Readonly<Record<string, string>>) => startShortLivedService(env).ended;

test.concurrent("a service stays up while its ledger hangs and is killed, reports it, and gets the ledger back", async () => {
  const service = await runService(quietEnvironment(`${directory.path}/embedded`));
  const pid = await until(
    "the service is online",
    async () => ((await statusOf(service)) === "online" ? Effect.runPromise(service.ledgerPid) : 0),
    (found) => found !== null && found > 0,
  );
  await until(
    "the first sync is complete",
    () => codeOf(service, "/v1/indexer"),
    (code) => code === 200,
  );
  const { data: before } = (await (await fetch(`${service.url}/v1/indexer`)).json()) as {
    data: ReadonlyArray<{ escrow_pda: string }>;
  };

  process.kill(pid ?? 0, "SIGSTOP");
  // Anonymous callers may be told what was read up to a second before.
  await until(
    "the service says that its ledger does not answer",
    () => statusOf(service),
    (status) => status === "degraded",
  );
  await until(
    "the service is not ready",
    () => codeOf(service, "/ready"),
    (code) => code === 503,
  );
  expect(await codeOf(service, "/health")).toBe(200);
  expect(await codeOf(service, "/v1/escrows/prepare", prepare)).toBe(200);
  expect(await codeOf(service, "/v1/indexer")).toBe(200);

  process.kill(pid ?? 0, "SIGKILL");
  await until(
    "the service is online again",
    () => statusOf(service),
    (status) => status === "online",
  );
  expect(await Effect.runPromise(service.ledgerPid)).not.toBe(pid);
  for (const { escrow_pda } of before)
    expect(await codeOf(service, `/v1/escrows/${escrow_pda}`)).toBe(200);
  await service.stop();
}, 60_000);

test.concurrent("a service whose remote ledger hangs at the start becomes ready with the ledger", async () => {
  const ledger = await startLedger(`${directory.path}/ledger`);
  await ledger.signal("SIGSTOP");

  const service = await runService(remote(`${directory.path}/waiting`, ledger.rpcUrl));
  expect(await codeOf(service, "/health")).toBe(200);
  expect(await statusOf(service)).toBe("degraded");
  expect(await codeOf(service, "/ready")).toBe(503);
  expect(await codeOf(service, "/v1/indexer")).toBe(503);
  expect(await codeOf(service, "/v1/escrows/prepare", prepare)).toBe(200);

  await ledger.signal("SIGCONT");
  await until(
    "the service is ready",
    () => codeOf(service, "/ready"),
    (code) => code === 200,
  );
  await until(
    "the service is online",
    () => statusOf(service),
    (status) => status === "online",
  );
  await service.stop();
  await ledger.stop();
}, 60_000);

test.concurrent("a ledger other than the store's, or than the configured cluster, ends the service", async () => {
  const ledgers = await Promise.all([
    startLedger(`${directory.path}/ledger-a`),
    startLedger(`${directory.path}/ledger-b`),
  ]);
  const dataDir = `${directory.path}/moved`;
  const service = await runService(remote(dataDir, ledgers[0].rpcUrl));
  await until(
    "the store is open",
    () => codeOf(service, "/v1/indexer"),
    (code) => code === 200,
  );
  await service.stop();

  const moved = await ending(remote(dataDir, ledgers[1].rpcUrl));
  expect(moved.code).toBe(1);
  expect(moved.stderr).toContain("holds the index of another ledger");
  const mislabelled = await ending({
    ...remote(`${directory.path}/mislabelled`, ledgers[1].rpcUrl),
    SOLANA_CLUSTER: "devnet",
  });
  expect(mislabelled.code).toBe(1);
  expect(mislabelled.stderr).toContain("the ledger is localnet by its genesis hash");
  await Promise.all(ledgers.map(({ stop }) => stop()));
}, 60_000);

import { afterAll, expect, test } from "bun:test";
import { Effect, Exit, Logger, Scope } from "effect";
import { superviseLocalLedger } from "../../../adapters/local-ledger/supervisor.ts";
import { LOCAL_FAUCET } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { until } from "../../app/support/running-service.ts";
import { call, temporaryFolder } from "./ledger-fixture.ts";

const folder = temporaryFolder();
afterAll(folder.remove);

const messages: Array<string> = [];
const recording = Logger.layer([
  Logger.make<unknown, void>(({ message }) => void messages.push(JSON.stringify(message))),
]);

const supervised = async () => {
  const scope = await Effect.runPromise(Scope.make());
  const ledger = await Effect.runPromise(
    superviseLocalLedger({ dataDir: folder.path, port: 0, demo: false }).pipe(
      Scope.provide(scope),
      Effect.provide(recording),
    ),
  );
  const pid = async () => (await Effect.runPromise(ledger.process))?.pid;
  return { ledger, pid, close: () => Effect.runPromise(Scope.close(scope, Exit.void)) };
};

/** Asks until the ledger answers again, as a client would. */
const answered = async (url: string, method: string, ...params: ReadonlyArray<unknown>) => {
  for (;;) {
    const answer = await call(url, method, ...params).catch(() => undefined);
    if (answer !== undefined) return answer.result;
  }
};

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test("a killed ledger returns at the same address with its state, and ends with its scope", async () => {
  const { ledger, pid, close } = await supervised();
  const { rpcUrl } = ledger;
  const first = await pid();
  const signature = await answered(rpcUrl, "requestAirdrop", LOCAL_FAUCET.address, 5, {
    commitment: "processed",
  });
  const genesisHash = await answered(rpcUrl, "getGenesisHash");

  process.kill(first ?? 0, "SIGKILL");
  // The new process may answer before its supervisor has heard that it does.
  const second = await until(
    "another process is the ledger",
    pid,
    (found) => found !== undefined && found !== first,
  );
  expect(await answered(rpcUrl, "getGenesisHash")).toBe(genesisHash);
  expect(await answered(rpcUrl, "getSignatureStatuses", [signature])).toMatchObject({
    value: [{ err: null }],
  });
  expect(messages.join()).toContain("SIGKILL");

  await close();
  expect(isAlive(second ?? 0)).toBe(false);
}, 60_000);

test("a failed first start reports its reason", async () => {
  const { ledger, close } = await supervised();
  const { port } = new URL(ledger.rpcUrl);
  const other = temporaryFolder();
  const outcome = await Effect.runPromiseExit(
    Effect.scoped(superviseLocalLedger({ dataDir: other.path, port: Number(port), demo: false })),
  );
  expect(JSON.stringify(outcome)).toContain("LocalLedgerDidNotStart");
  expect(JSON.stringify(outcome)).toContain(port);
  other.remove();
  await close();
});

import { afterAll, beforeAll, expect, test } from "bun:test";
import { Effect, Exit, Scope } from "effect";
import { superviseLocalLedger } from "../../../adapters/local-ledger/supervisor.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { startGate } from "./gate.ts";
import {
  quietEnvironment,
  runService,
  temporaryDirectory,
  until,
  synced,
} from "./running-service.ts";
import { startShortLivedService } from "./service-process.ts";

/** A local ledger with the demo data, as `bun run cli local-ledger` runs it. */
const startLedger = async (dataDir: string) => {
  const scope = await Effect.runPromise(Scope.make());
  const { rpcUrl } = await Effect.runPromise(
    Scope.provide(superviseLocalLedger({ dataDir, port: 0, demo: true }), scope),
  );
  return { rpcUrl, stop: () => Effect.runPromise(Scope.close(scope, Exit.void)) };
};

const environment = (dataDir: string, rpcUrl: string) => ({
  ...quietEnvironment(dataDir),
  SOLANA_RPC_URL: rpcUrl,
  CUSTODY_PROGRAM_ID: LOCAL_DEPLOYMENT.custodyProgram,
  ATTESTOR_PROGRAM_ID: LOCAL_DEPLOYMENT.attestorProgram,
  SYNC_INTERVAL_SECONDS: "1",
  EVIDENCE_SIGNING_KEY: Buffer.alloc(32, 6).toString("base64"),
  LOG_NAME: "log.example",
  LOG_SIGNING_KEY: Buffer.alloc(32, 5).toString("base64"),
});

type Service = { readonly url: string; readonly stop: () => Promise<unknown> };

const inThisProcess = async (env: Readonly<Record<string, string>>): Promise<Service> =>
  runService(env);
/** With the worker that writes the stores. */
const inProcessOfItsOwn = async (env: Readonly<Record<string, string>>): Promise<Service> => {
  const service = startShortLivedService({ ...env, LOG_LEVEL: "info" });
  return {
    url: await service.url,
    stop: () => {
      service.kill("SIGTERM");
      return service.ended;
    },
  };
};

const readyCode = async ({ url }: Service) => (await fetch(`${url}/ready`)).status;
const isReady = (service: Service) =>
  until(
    "the service is ready",
    () => readyCode(service),
    (code) => code === 200,
    30,
  );
const jsonOf = async ({ url }: Service, path: string) => {
  const answer = await fetch(url + path);
  return { code: answer.status, body: (await answer.json()) as Record<string, unknown> };
};
const networkOf = async (service: Service) => {
  const { body } = await jsonOf(service, "/v1/status");
  return (body as { data: { network: Record<string, unknown> } }).data.network;
};
const checkpointOf = async ({ url }: Service) => {
  const answer = await fetch(`${url}/log/checkpoint`);
  return { code: answer.status, text: await answer.text() };
};

const LISTS = ["/v1/indexer", "/v1/indexer/events", "/v1/registry/merchants"];

/** What a service says of its ledger while it serves its store. */
const served = async (service: Service) => ({
  lists: await Promise.all(LISTS.map((path) => jsonOf(service, path))),
  checkpoint: await checkpointOf(service),
  trust: await jsonOf(service, "/.well-known/evidence-trust.json"),
});

const escrowsIn = ({ lists }: Awaited<ReturnType<typeof served>>) =>
  lists[0]?.body["data"] as ReadonlyArray<{ readonly state: string; readonly escrow_pda: string }>;
/** A packet's signed part and signature, and the age of its merchant's state. */
const evidenceOf = async ({ url }: Service, escrow: string) => {
  const answer = await fetch(`${url}/v1/evidence/${escrow}`);
  const { data, signature } = (await answer.json()) as Record<"data" | "signature", unknown>;
  return { code: answer.status, age: answer.headers.get("age"), signed: { data, signature } };
};

const rowsOf = ({ lists }: Awaited<ReturnType<typeof served>>) =>
  lists.map(({ body }) => body["data"]);
/** The same while no node has shown the settlement mint, in which the volumes are counted. */
const rowsWithoutMint = (before: Awaited<ReturnType<typeof served>>): ReturnType<typeof rowsOf> =>
  JSON.parse(JSON.stringify(rowsOf(before)), (name, value: unknown) =>
    name === "volume_usdc" ? null : value,
  );
const marksOf = ({ lists }: Awaited<ReturnType<typeof served>>) =>
  lists.map(({ body }) => (body["index"] as { stale?: true }).stale);

/** Where a service keeps its index. */
export type StoreOfService = {
  /** Settings that name a store of its own. */
  readonly settings: () => Readonly<Record<string, string>>;
  /** Where the store does not stand in its folder, the service is started again in an empty one. */
  readonly isInFolder: boolean;
};

/** What a service that has synced must do when it is started again without its node, whatever its store is. */
export const withoutNodeContract = (store: StoreOfService) => {
  const starts: ReadonlyArray<readonly [string, typeof inThisProcess]> = [
    ["in one thread", inThisProcess],
    // Only a store that stands in the folder is written by a worker.
    ...(store.isInFolder ? [["with a sync worker", inProcessOfItsOwn] as const] : []),
  ];
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let ledgers: ReadonlyArray<Awaited<ReturnType<typeof startLedger>>>;

  beforeAll(async () => {
    directory = await temporaryDirectory();
    ledgers = await Promise.all([
      startLedger(`${directory.path}/ledger-a`),
      startLedger(`${directory.path}/ledger-b`),
    ]);
  }, 60_000);
  afterAll(async () => {
    await Promise.all(ledgers.map(({ stop }) => stop()));
    await directory.remove();
  });

  test.concurrent.each(starts)(
    "a service whose node is down at the start serves its store, marked stale, and only its own ledger clears the mark (%s)",
    async (name, start) => {
      const gate = startGate();
      const [ours = "", another = ""] = ledgers.map(({ rpcUrl }) => rpcUrl);
      const settings = store.settings();
      const environmentIn = (folder: string) => ({
        ...environment(`${directory.path}/${folder} ${name}`, gate.url),
        ...settings,
      });
      gate.passTo(ours);
      const first = await start(environmentIn("service"));
      await isReady(first);
      await synced(first.url);
      await until(
        "a checkpoint is published",
        () => checkpointOf(first),
        ({ code }) => code === 200,
      );
      const before = await served(first);
      const settled =
        escrowsIn(before).find(({ state }) => state === "Fulfilled")?.escrow_pda ?? "";
      const unserved =
        escrowsIn(before).find(({ state }) => state === "Refunded")?.escrow_pda ?? "";
      const pending = escrowsIn(before).find(({ state }) => state === "Pending")?.escrow_pda ?? "";
      const packet = await evidenceOf(first, settled);
      expect(packet).toMatchObject({ code: 200, age: null });
      expect(marksOf(before)).toEqual([undefined, undefined, undefined]);
      await first.stop();

      gate.passTo(null);
      const second = await start(environmentIn(store.isInFolder ? "service" : "another"));
      await until(
        "the store is served",
        () => jsonOf(second, "/v1/indexer"),
        ({ code }) => code === 200,
      );
      const offline = await served(second);
      expect(rowsOf(offline)).toEqual(rowsWithoutMint(before));
      expect(marksOf(offline)).toEqual([true, true, true]);
      expect(offline.checkpoint).toEqual(before.checkpoint);
      expect(offline.trust).toEqual(before.trust);
      // What an earlier process served is served as it was, with its age. What nobody has asked for is made from the
      // index, where the log proves it. A Pending escrow needs a node.
      const kept = await evidenceOf(second, settled);
      expect([kept.code, kept.signed]).toEqual([200, packet.signed]);
      const fromIndex = await evidenceOf(second, unserved);
      expect(fromIndex.code).toBe(200);
      expect((await evidenceOf(second, pending)).code).toBe(502);
      expect(await jsonOf(second, "/ready")).toMatchObject({
        code: 503,
        body: {
          code: "not_ready",
          errors: [{ pointer: "/ledger", detail: "The ledger does not answer" }],
        },
      });
      const genesisHash = before.trust.body["genesis_hash"];
      expect(await networkOf(second)).toMatchObject({
        genesis_hash: genesisHash,
        identity: "recorded",
        healthy: false,
      });

      gate.passTo(another);
      await until(
        "the status says that another ledger is there",
        () => networkOf(second),
        ({ identity }) => identity === "contradicted",
        30,
      );
      const { body } = await jsonOf(second, "/ready");
      expect(body["errors"]).toEqual([
        {
          pointer: "/identity",
          detail: "The ledger is another one than the store's, or one that was begun anew",
        },
      ]);
      const contradicted = await served(second);
      expect(rowsOf(contradicted)).toEqual(rowsWithoutMint(before));
      expect(marksOf(contradicted)).toEqual([true, true, true]);
      expect(contradicted.trust).toEqual(before.trust);
      expect(await networkOf(second)).toMatchObject({ genesis_hash: genesisHash, slot: null });

      gate.passTo(ours);
      await isReady(second);
      // A node that takes longer than 700 ms to answer is not healthy, which a busy machine can make it.
      const network = await until(
        "the status says that the node is healthy",
        () => networkOf(second),
        ({ healthy }) => healthy === true,
        30,
      );
      expect(network).toMatchObject({ identity: "confirmed" });
      expect((await evidenceOf(second, unserved)).signed).toEqual(fromIndex.signed);
      expect(marksOf(await served(second))).toEqual([undefined, undefined, undefined]);
      await second.stop();
      await gate.stop();
    },
    120_000,
  );
};

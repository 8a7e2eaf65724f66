import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { EscrowRecord } from "../../adapters/http/escrow/escrow-contract.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { completePacket } from "./support/complete-packet.ts";
import { withDemoLedger } from "./support/demo-ledger.ts";
import {
  quietEnvironment,
  runService,
  temporaryDirectory,
  until,
  untilReady,
} from "./support/running-service.ts";

type Service = Awaited<ReturnType<typeof runService>>;
type Packet = {
  readonly data: unknown;
  readonly signature: unknown;
  readonly references: {
    readonly transactions: ReadonlyArray<{ readonly kind: string }>;
    readonly not_found: ReadonlyArray<string>;
  };
};

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let primary: Service;
let settled: ReadonlyArray<EscrowRecord>;

const ready = async (service: Service): Promise<Service> => {
  await untilReady(service.url);
  return service;
};

const sync = ({ url }: Service) => fetch(`${url}/v1/indexer/sync`, { method: "POST" });

/** Another service on the first one's ledger, with the same key and an index of its own that it never syncs. */
const startReplica = async (): Promise<Service> =>
  ready(
    await runService({
      ...quietEnvironment(join(directory.path, "replica")),
      SOLANA_RPC_URL: primary.rpcUrl,
      SOLANA_CLUSTER: "localnet",
      CUSTODY_PROGRAM_ID: LOCAL_DEPLOYMENT.custodyProgram,
      ATTESTOR_PROGRAM_ID: LOCAL_DEPLOYMENT.attestorProgram,
      EVIDENCE_SIGNING_KEY_FILE: join(directory.path, "primary/evidence-signing-key"),
      SYNC_INTERVAL_SECONDS: "0",
    }),
  );

/** The body and validator of each settled escrow's packet. */
const packetsOf = ({ url }: Service) =>
  Promise.all(
    settled.map(async ({ escrow_pda }) => {
      const response = await fetch(`${url}/v1/evidence/${escrow_pda}`);
      return { etag: response.headers.get("etag"), body: await response.text() };
    }),
  );

/** The signed data and the signature, as sent. */
const signedBytes = (packets: ReadonlyArray<{ readonly body: string }>) =>
  packets.map(({ body }) => body.slice(0, body.indexOf(',"references":{')));

const referencesOf = (packets: ReadonlyArray<{ readonly body: string }>) =>
  packets.map(({ body }) => (JSON.parse(body) as Packet).references);

/** Syncs a service without a log, and gives its packets once they refer to all that there is. */
const packetsOnceSynced = (service: Service) =>
  until(
    "the packets have their transactions",
    async () => {
      await sync(service);
      return packetsOf(service);
    },
    (packets) => referencesOf(packets).every(({ not_found }) => not_found.length === 0),
  );

beforeAll(async () => {
  directory = await temporaryDirectory();
  const dataDir = withDemoLedger(join(directory.path, "primary"));
  primary = await ready(await runService(quietEnvironment(dataDir)));
  await sync(primary);
  const { data } = (await (await fetch(`${primary.url}/v1/indexer`)).json()) as {
    data: ReadonlyArray<EscrowRecord>;
  };
  settled = data.filter(({ state }) => state !== "Pending");
});

afterAll(async () => {
  await primary.stop();
  await directory.remove();
});

test("a settled packet is the same from a replica, without its index, and after its index was rebuilt", async () => {
  expect(settled).toHaveLength(3);
  const original = await Promise.all(
    settled.map(({ escrow_pda }) => completePacket(primary.url, escrow_pda)),
  );
  for (const { transactions, not_found } of referencesOf(original)) {
    expect(transactions.map(({ kind }) => kind)).toEqual([
      "escrow_created",
      expect.stringMatching(/^escrow_(released|partially_released|refunded)$/),
    ]);
    expect(not_found).toEqual([]);
  }

  let replica = await startReplica();
  const without = await packetsOf(replica);
  expect(signedBytes(without)).toEqual(signedBytes(original));
  for (const { transactions, not_found } of referencesOf(without)) {
    expect(transactions).toEqual([]);
    expect(not_found).toHaveLength(2);
  }

  const synced = await packetsOnceSynced(replica);
  await replica.stop();
  const stores = (await readdir(join(directory.path, "replica"))).filter((name) =>
    name.startsWith("index.sqlite"),
  );
  expect(stores).not.toEqual([]);
  for (const name of stores) await rm(join(directory.path, "replica", name));
  replica = await startReplica();
  const rebuilt = await packetsOnceSynced(replica);
  await replica.stop();

  // The references are found again too, but for the proof of a log: the replica has no key for one.
  const inNoLog = original.map(({ body }) => body.replace(/"log":\{[^}]*\}/, '"log":null'));
  expect(synced.map(({ body }) => body)).toEqual(inNoLog);
  expect(rebuilt).toEqual(synced);
}, 60_000);

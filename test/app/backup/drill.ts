import { expect } from "bun:test";
import { createHmac } from "node:crypto";
import { mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ed25519Key } from "../../../adapters/signer/ed25519-key.ts";
import { buy } from "../../../app/demo/run-demo.ts";
import { openStage } from "../../../app/demo/stage.ts";
import { runCommand } from "../../../app/command-line/command-line.ts";
import { main as backup } from "../../../app/commands/backup.ts";
import { main as restore } from "../../../app/commands/restore.ts";
import { main as webhook } from "../../../app/commands/webhook.ts";
import { hash32FromBytes } from "../../../core/domain/hash32.ts";
import { verifierKey, printVerifierKey } from "../../../core/log/notes/verifier-key.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { spawnLedger } from "../../adapters/local-ledger/ledger-process.ts";
import { serveNode } from "../../simulation/serve-node.ts";
import { worldOf } from "../../simulation/world.ts";
import { worldEscrow } from "../../simulation/world-escrow.ts";
import { ChainNode } from "../../world/chain-node.ts";
import type { SettlementChain } from "../../world/settlement-chain.ts";
import { silentNarrator } from "../commands/silent-narrator.ts";
import { withDemoLedger } from "../support/demo-ledger.ts";
import { startGate } from "../support/gate.ts";
import { publishedBy } from "../support/log-client.ts";
import { openRegistration } from "../support/open-registration.ts";
import { runHere } from "../support/run-here.ts";
import {
  latestBlockhash,
  quietEnvironment,
  runService,
  until,
  synced,
} from "../support/running-service.ts";
import type { ServiceProcess } from "../support/service-process.ts";

/** Where a drill runs: how its services are started, and settings of theirs before the kill and after it. */
type DrillPlace = {
  readonly folder: string;
  readonly start: (env: Readonly<Record<string, string>>) => ServiceProcess;
  readonly before?: Readonly<Record<string, string>>;
  readonly after?: Readonly<Record<string, string>>;
};

const seedText = (fill: number): string => `${Buffer.alloc(32, fill).toString("base64")}\n`;

/** A service's settings on a node, with its keys in files outside of its data directory. */
const environmentOn = async (folder: string, rpcUrl: string) => {
  const keys = join(folder, "keys");
  await mkdir(keys, { recursive: true });
  await writeFile(join(keys, "log"), seedText(11), { mode: 0o600 });
  await writeFile(join(keys, "evidence"), seedText(12), { mode: 0o600 });
  return {
    ...quietEnvironment(join(folder, "data")),
    LOG_LEVEL: "info",
    SOLANA_RPC_URL: rpcUrl,
    CUSTODY_PROGRAM_ID: LOCAL_DEPLOYMENT.custodyProgram,
    ATTESTOR_PROGRAM_ID: LOCAL_DEPLOYMENT.attestorProgram,
    SYNC_INTERVAL_SECONDS: "1",
    LOG_NAME: "log.example",
    LOG_SIGNING_KEY_FILE: join(keys, "log"),
    EVIDENCE_SIGNING_KEY_FILE: join(keys, "evidence"),
  };
};

type Environment = Awaited<ReturnType<typeof environmentOn>>;

const backUp = async (folder: string, env: Environment) => {
  const args = ["--to", join(folder, "backup"), "--keys", join(folder, "backup-of-keys")];
  const run = await runHere((io) => runCommand(backup, args, io), { env });
  expect(run).toMatchObject({ code: 0, stderr: "" });
};

/** Restores what `backUp` made, and gives the settings of a service on it. */
const restored = async (folder: string, env: Environment): Promise<Environment> => {
  const dataDir = join(folder, "restored");
  const args = ["--from", join(folder, "backup"), "--keys", join(folder, "backup-of-keys")];
  const run = await runHere((io) => runCommand(restore, [...args, "--data-dir", dataDir], io), {
    env,
  });
  expect(run).toMatchObject({ code: 0, stderr: "" });
  expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
  for (const name of ["log-signing-key", "evidence-signing-key"])
    expect((await stat(join(dataDir, name))).mode & 0o777).toBe(0o600);
  return {
    ...env,
    DATA_DIR: dataDir,
    LOG_SIGNING_KEY_FILE: join(dataDir, "log-signing-key"),
    EVIDENCE_SIGNING_KEY_FILE: join(dataDir, "evidence-signing-key"),
  };
};

type LogStatus = {
  readonly vkey: string | null;
  readonly size: number | null;
  readonly root: string | null;
  readonly published_size: number | null;
  readonly hindrance: string | null;
};

const logOf = async (url: string): Promise<LogStatus> => {
  const { data } = (await (await fetch(`${url}/v1/status`)).json()) as { data: { log: LogStatus } };
  return data.log;
};

/**
 * A webhook's receiver, which takes everything: the numbers of the events that it was told of, under a secret that the
 * drill never shows to the restored service.
 */
const startReceiver = () => {
  const told = new Set<number>();
  let secret = "";
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      const body = await request.text();
      const [id, time] = ["webhook-id", "webhook-timestamp"].map((name) =>
        request.headers.get(name),
      );
      const key = Buffer.from(secret.slice("whsec_".length), "base64");
      const mac = createHmac("sha256", key).update(`${id}.${time}.${body}`).digest("base64");
      if (request.headers.get("webhook-signature") === `v1,${mac}`)
        told.add(Number(id?.split("-").at(-1)));
      return new Response(null, { status: 204 });
    },
  });
  return {
    told,
    add: async (env: Readonly<Record<string, string>>) => {
      const args = ["add", `http://127.0.0.1:${server.port}/`, "--from", "1"];
      const run = await runHere((io) => runCommand(webhook, args, io), { env });
      secret = /whsec_\S+/.exec(run.stdout)?.[0] ?? "";
      expect(run).toMatchObject({ code: 0 });
    },
    stop: () => server.stop(true),
  };
};

/** The ledger with the first `escrows` of a world, at a slot that grows with them. */
const chainOf = (escrows: number): SettlementChain => {
  const chain = worldOf(escrows);
  chain.slot = BigInt(1000 + escrows);
  return chain;
};

const grow = (chain: SettlementChain, escrows: number): void => {
  for (let number = chain.escrows.size; number < escrows; number++)
    chain.putEscrow(worldEscrow(number));
  chain.slot = BigInt(1000 + escrows);
};

const sizeOf = (chain: SettlementChain): number => chain.custodyLog.events.length + 1;

/**
 * Backs a service up under load, lets its log grow, kills it and restores it before a node that is behind what its
 * witness has cosigned: it signs the same tree and no other tail, its packets are the same bytes, and it tells the same
 * webhook of every event.
 */
export const expectSameTree = async ({ folder, start, before = {}, after = {} }: DrillPlace) => {
  const chain = chainOf(200);
  // What the service's own node shows. The witness's shows all of it.
  let shown = chain;
  using node = serveNode((call) => new ChainNode(shown).answer(call));
  using witnessNode = serveNode(new ChainNode(chain).answer);
  const gate = startGate();
  const env = { ...(await environmentOn(folder, node.url)), ...before };
  const first = start(env);
  gate.passTo(await first.url);
  const { vkey } = await until(
    "the log",
    () => logOf(gate.url),
    (log) => log.vkey !== null,
  );

  const logs = join(folder, "logs.txt");
  await writeFile(logs, `${vkey} ${gate.url}\n`);
  await writeFile(join(folder, "witness-key"), seedText(13), { mode: 0o600 });
  const witness = await runService({
    ...(await environmentOn(join(folder, "witness"), witnessNode.url)),
    LOG_LEVEL: "error",
    LOG_NAME: "",
    LOG_SIGNING_KEY_FILE: "",
    WITNESS_LOGS: logs,
    WITNESS_KEY_FILE: join(folder, "witness-key"),
    WITNESS_NAME: "witness.example",
  });
  const { publicKey } = ed25519Key(Buffer.alloc(32, 13));
  const line = printVerifierKey(verifierKey("witness.example", "cosignature", publicKey));
  await writeFile(
    join(env.DATA_DIR, "log-witnesses"),
    `witness one ${line} ${witness.url}/witness\nquorum one\n`,
  );
  const cosigned = async (size: number) => {
    const published = await until(
      `${size} leaves are cosigned`,
      () => publishedBy(gate.url),
      (each) => each?.checkpoint.size === size && each.note.includes("— witness.example"),
      120,
    );
    return hash32FromBytes(published?.checkpoint.root ?? new Uint8Array(32));
  };
  const packetOf = async (number: number): Promise<string> => {
    const { address } = worldEscrow(number);
    const answer = await fetch(`${gate.url}/v1/evidence/${address}`);
    expect(answer.status).toBe(200);
    const { data, signature } = (await answer.json()) as Record<string, unknown>;
    return JSON.stringify({ data, signature });
  };
  const receiver = startReceiver();
  try {
    await receiver.add(env);
    await cosigned(sizeOf(chain));
    const packet = await packetOf(5);
    // Load: the ledger grows and pages are read while the backup is made.
    const over = new AbortController();
    const load = (async () => {
      while (!over.signal.aborted) {
        grow(chain, chain.escrows.size + 1);
        await fetch(`${gate.url}/v1/indexer/sync`, { method: "POST" });
        await fetch(`${gate.url}/v1/indexer?limit=100`).then((answer) => answer.text());
      }
    })();
    await backUp(folder, env);
    over.abort();
    await load;

    const between = chain.escrows.size + 10;
    grow(chain, between + 50);
    const lastSize = sizeOf(chain);
    const lastRoot = await cosigned(lastSize);
    first.kill("SIGKILL");
    await first.ended;

    // The restored service's node is as far as between the backup and what was cosigned.
    shown = chainOf(between);
    const second = start(await restored(folder, { ...env, ...after }));
    gate.passTo(await second.url);
    const hindered = await until(
      "the witness is ahead",
      () => logOf(gate.url),
      ({ hindrance }) => hindrance === "witnesses_ahead",
    );
    // What it signed before it heard of the witness is the beginning of the same tree, and nobody cosigned it.
    expect(hindered.size).toBeLessThanOrEqual(sizeOf(shown));
    expect(hindered.published_size).toBeLessThan(sizeOf(shown));
    expect(hindered.root).toBe(chain.rootAt(BigInt((hindered.size ?? 0) - 1)) ?? null);
    expect(await packetOf(5)).toBe(packet);

    shown = chain;
    expect(await cosigned(lastSize)).toBe(lastRoot);
    expect(await packetOf(5)).toBe(packet);
    grow(chain, chain.escrows.size + 5);
    expect(await cosigned(sizeOf(chain))).toBe(chain.rootAt(BigInt(sizeOf(chain) - 1)) ?? lastRoot);
    const events = chain.custodyLog.events.length;
    await until(
      "the webhook is told of every event",
      () => Promise.resolve(receiver.told.size),
      (told) => told >= events,
      120,
    );
    expect([...receiver.told].toSorted((one, other) => one - other)).toEqual(
      Array.from({ length: events }, (_, at) => at + 1),
    );
  } finally {
    await receiver.stop();
    await witness.stop();
    await gate.stop();
  }
};

/** Restores a backup of before a relay: what was acknowledged before it and after it is told once, and the same. */
export const expectToldOnce = async ({
  folder,
  start,
  before: database = {},
  after: other = {},
}: DrillPlace) => {
  const ledger = await spawnLedger(withDemoLedger(join(folder, "ledger")), "--supervised");
  try {
    const env = { ...(await environmentOn(folder, ledger.ready.rpc_url)), ...database };
    const first = start({ ...env, SOLANA_WS_URL: ledger.ready.ws_url });
    const url = await first.url;
    await synced(url);
    const stage = await openStage(url, silentNarrator);
    const relay = async (to: string, key: string, transaction: string) => {
      const answer = await fetch(`${to}/v1/relay`, {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": key },
        body: JSON.stringify({ signed_transaction: transaction, confirm: true }),
      });
      return { status: answer.status, body: (await answer.json()) as { readonly data: unknown } };
    };
    const registration = openRegistration(stage.parties, await latestBlockhash(url), "Kept Quotes");
    const before = await relay(url, "before", registration.transaction);
    expect(before.status).toBe(202);
    await backUp(folder, env);

    // Acknowledged after the backup: the restored relay's log knows nothing of it.
    const { escrow_pda: address } = await buy(stage, { units: 7n, ttl: 600 });
    const escrowAt = async (to: string) => (await fetch(`${to}/v1/escrows/${address}`)).json();
    const asked = async (method: string, ...params: ReadonlyArray<unknown>) => {
      const answer = await fetch(ledger.ready.rpc_url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      });
      return ((await answer.json()) as { readonly result: unknown }).result;
    };
    const listed = (await asked("getSignaturesForAddress", address)) as ReadonlyArray<{
      readonly signature: string;
    }>;
    expect(listed).toHaveLength(1);
    const signature = listed[0]?.signature ?? "";
    const { transaction: wire } = (await asked("getTransaction", signature, {
      encoding: "base64",
      maxSupportedTransactionVersion: 0,
    })) as { readonly transaction: readonly [string, string] };
    first.kill("SIGKILL");
    await first.ended;

    const second = start({
      ...(await restored(folder, { ...env, ...other })),
      SOLANA_WS_URL: ledger.ready.ws_url,
    });
    const again = await second.url;
    await synced(again);
    expect(await relay(again, "before", registration.transaction)).toEqual(before);
    const told = await fetch(`${again}/v1/relay/${registration.signature}`);
    expect(await told.json()).toMatchObject({ data: { status: "landed" } });
    // Asked again, it is the same payment, and nobody is told that it expired.
    const repeated = await relay(again, "after", wire[0]);
    expect(repeated).toMatchObject({ status: 202, body: { data: { signature } } });
    const after = await fetch(`${again}/v1/relay/${signature}`);
    expect(await after.json()).toMatchObject({ data: { status: "landed" } });
    expect(await asked("getSignaturesForAddress", address)).toHaveLength(1);
    expect(await escrowAt(again)).toMatchObject({ data: { escrow_pda: address } });
  } finally {
    ledger.child.kill();
    await ledger.child.exited;
  }
};

import { afterAll, expect, test } from "bun:test";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ed25519Key } from "../../adapters/signer/ed25519-key.ts";
import { runCommand } from "../../app/command-line/command-line.ts";
import { main as runLog } from "../../app/commands/log.ts";
import { addressFromBytes } from "../../core/domain/address.ts";
import { encodeBase64 } from "../../core/domain/encoding/base64.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { type KmsMood, startKms } from "../doubles/fake-kms.ts";
import { serveNode } from "../simulation/serve-node.ts";
import { worldOf } from "../simulation/world.ts";
import { worldEscrow } from "../simulation/world-escrow.ts";
import { ChainNode } from "../world/chain-node.ts";
import { publishedBy } from "./support/log-client.ts";
import { runHere } from "./support/run-here.ts";
import {
  quietEnvironment,
  runService,
  temporaryDirectory,
  until,
} from "./support/running-service.ts";

const directory = await temporaryDirectory();
afterAll(() => directory.remove());

/** A key that a KMS holds, with the file that says so. */
const heldKey = async (name: string, fill: number, mood: () => KmsMood) => {
  const seed = new Uint8Array(32).fill(fill);
  const socket = join(directory.path, `${name}.socket`);
  const { publicKey } = ed25519Key(seed);
  const text = `agent:${addressFromBytes(publicKey)} ${socket}`;
  const file = join(directory.path, `${name}.key`);
  await writeFile(file, `${text}\n`, { mode: 0o600 });
  return { file, text, publicKey, start: () => startKms(socket, seed, mood) };
};

type LogStatus = {
  readonly hindrance: string | null;
  readonly published_size: number | null;
  readonly next_vkey: string | null;
};

test("a service whose keys a KMS holds reads without it, signs nothing false, and goes on when it does", async () => {
  const moods: Record<"evidence" | "log" | "next", KmsMood> = {
    evidence: "signs",
    log: "signs",
    next: "signs",
  };
  const evidence = await heldKey("evidence", 31, () => moods.evidence);
  const log = await heldKey("log", 32, () => moods.log);
  const next = await heldKey("next", 33, () => moods.next);
  const chain = worldOf(40);
  using node = serveNode(new ChainNode(chain).answer);
  const dataDir = join(directory.path, "data");
  await mkdir(dataDir);
  const env = {
    ...quietEnvironment(dataDir),
    SOLANA_RPC_URL: node.url,
    CUSTODY_PROGRAM_ID: LOCAL_DEPLOYMENT.custodyProgram,
    ATTESTOR_PROGRAM_ID: LOCAL_DEPLOYMENT.attestorProgram,
    SYNC_INTERVAL_SECONDS: "1",
    LOG_NAME: "log.example",
    LOG_SIGNING_KEY_FILE: log.file,
    EVIDENCE_SIGNING_KEY_FILE: evidence.file,
  };
  // Neither KMS runs yet.
  const service = await runService(env);
  try {
    const statusOf = async (path: string): Promise<number> =>
      (await fetch(`${service.url}${path}`)).status;
    const packet = (number: number) =>
      fetch(`${service.url}/v1/evidence/${worldEscrow(number).address}`);
    const logStatus = async (): Promise<LogStatus> =>
      ((await (await fetch(`${service.url}/v1/status`)).json()) as { data: { log: LogStatus } })
        .data.log;
    await until(
      "the log waits for its key",
      logStatus,
      (each) => each.hindrance === "log_key_unavailable",
    );
    await until(
      "the service is ready",
      () => statusOf("/ready"),
      (code) => code === 200,
    );
    expect(await statusOf("/v1/indexer")).toBe(200);
    expect(await publishedBy(service.url)).toBeNull();
    const none = await packet(1);
    expect(none.status).toBe(503);
    expect(none.headers.get("retry-after")).toBe("1");
    expect(await none.json()).toMatchObject({ code: "evidence_key_unavailable" });

    using evidenceKms = evidence.start();
    using logKms = log.start();
    const size = chain.custodyLog.events.length + 1;
    const published = () => publishedBy(service.url);
    await until("the log is published", published, (each) => each?.checkpoint.size === size);
    const signed = await packet(1);
    expect(signed.status).toBe(200);
    expect(await signed.json()).toMatchObject({
      signature: { status: "signed", public_key: encodeBase64(evidence.publicKey) },
    });
    expect(evidenceKms.asked()).toBe(1);

    // A KMS that signs with another key, or other bytes, is believed nothing. What was signed before is served.
    for (const mood of ["other_key", "other_bytes", "refuses"] as const) {
      Object.assign(moods, { evidence: mood, log: mood });
      expect((await packet(2)).status).toBe(503);
      expect((await packet(1)).status).toBe(200);
    }
    chain.putEscrow(worldEscrow(40));
    chain.slot += 10n;
    await until(
      "the log waits again",
      logStatus,
      (each) => each.hindrance === "log_key_unavailable",
    );
    expect((await published())?.checkpoint.size).toBe(size);
    Object.assign(moods, { evidence: "signs", log: "signs" });
    const grown = chain.custodyLog.events.length + 1;
    await until("the log goes on", published, (each) => each?.checkpoint.size === grown);
    expect((await packet(2)).status).toBe(200);
    expect(logKms.asked()).toBeGreaterThan(2);

    // The key is rotated to one that another KMS holds.
    const run = (...args: ReadonlyArray<string>) =>
      runHere((io) => runCommand(runLog, [...args, "--data-dir", dataDir], io), { env });
    const onCommandLine = await run(
      "rotate-key",
      "--next",
      Buffer.alloc(32, 33).toString("base64"),
    );
    expect(onCommandLine.code).toBe(64);
    using nextKms = next.start();
    expect(await run("rotate-key", "--next", next.text)).toMatchObject({ code: 0, stderr: "" });
    await until(
      "two keys sign",
      published,
      (each) => (each?.note.match(/^— /gm) ?? []).length === 2,
    );
    await until("the second key is shown", logStatus, (each) => each.next_vkey !== null);
    expect(await run("retire-key")).toMatchObject({ code: 0, stderr: "" });
    await until(
      "one key signs",
      published,
      (each) => (each?.note.match(/^— /gm) ?? []).length === 1,
    );
    expect(nextKms.asked()).toBeGreaterThan(0);
  } finally {
    await service.stop();
  }
}, 180_000);

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sha256Bun } from "../../adapters/bun/sha256.ts";
import { ed25519Key } from "../../adapters/signer/ed25519-key.ts";
import { serviceBundle } from "../../app/bundle/service-bundle.ts";
import { provideSha256 } from "../../core/domain/sha256.ts";
import { checkpointText } from "../../core/log/checkpoint/checkpoint.ts";
import { printLogOrigin } from "../../core/log/checkpoint/log-origin.ts";
import { networkIdOf, networkLeaf } from "../../core/log/leaf/event-leaf.ts";
import { printSignedNote } from "../../core/log/notes/signed-note.ts";
import { printVerifierKey, verifierKey } from "../../core/log/notes/verifier-key.ts";
import { noteMessage } from "../../core/log/notes/verify-note.ts";
import { printAddCheckpoint } from "../../core/log/witness/add-checkpoint.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { rootOf } from "../app/support/log-client.ts";
import { walletOf } from "../simulation/world-escrow.ts";
import { cpuSecondsOf, startChild, startOnOneCore } from "./support/child.ts";
import { load } from "./support/load.ts";
import { report, sizeOf, times } from "./support/report.ts";
import { residentMb } from "./support/resident-memory.ts";
import { sampled, settledEscrow } from "./support/settled-world.ts";
import { startWitness } from "./support/witness-process.ts";

provideSha256(sha256Bun);

const EVENTS = sizeOf({ quick: 100_000, long: 1_000_000 });
const SECONDS = sizeOf({ quick: 2, long: 6 });
/** Escrows whose proofs are asked for: more than the service keeps packets of, from every part of the log. */
const ASKED = 20_000;
const GOAL = 2000;
const servers = `${import.meta.dir}/support/servers`;
const escrows = EVENTS / 2;
const dataDir = mkdtempSync(join(tmpdir(), "settlement-bench-"));

const builder = await startChild(`${servers}/build-log.ts`, dataDir, String(escrows));
const frontier = await builder.line();
await builder.stop();
const node = await startChild(
  `${servers}/serve-settled.ts`,
  String(escrows),
  String(ASKED),
  frontier,
);
const rpcUrl = await node.line();
const service = await startOnOneCore(`${servers}/serve-service.ts`, rpcUrl, dataDir);
const url = await service.line();

/** Answers a second of the CPU time that the service takes for them, whatever else runs on its core. */
const perCore = async (pathOf: (number: number) => string) => {
  const asked = { connections: 32, warmUpSeconds: 0 };
  const request = (number: number) => ({ path: pathOf(number) });
  await load(url, request, { ...asked, seconds: 2 });
  const before = cpuSecondsOf(service.pid);
  const { answers, p99Ms } = await load(url, request, { ...asked, seconds: SECONDS });
  return { perSecond: answers / (cpuSecondsOf(service.pid) - before), p99Ms };
};
const health = await perCore(() => "/health");
const paths = sampled(escrows, ASKED).map(
  (number) => `/v1/evidence/${settledEscrow(number).address}/proof`,
);
const measure = async (name: string, goal: number | null, pathOf: (number: number) => string) => {
  const { perSecond, p99Ms } = await perCore(pathOf);
  report({
    name,
    goal: goal === null ? "" : `>= ${goal}/s a core`,
    figure: perSecond,
    unit: "/s",
    ratio: `${times(perSecond, health.perSecond)} /health; p99 ${p99Ms.toFixed(1)} ms`,
    pass: goal === null ? null : perSecond >= goal,
  });
};
report({
  name: "GET /health, the yardstick",
  goal: "",
  figure: health.perSecond,
  unit: "/s",
  ratio: "",
  pass: null,
});
const first = paths[0] ?? "";
await measure(`/proof of one escrow, ${EVENTS} events`, null, () => first);
await measure(`/proof of ${ASKED} escrows`, GOAL, (number) => paths[number % paths.length] ?? "");

// A witness with nothing on disk is offered a checkpoint that the ledger is beyond, as while a log is busy: it reads the
// frontier from its node and some tiles from the log.
const key = ed25519Key(new Uint8Array(32).fill(9));
const networkId = networkIdOf(networkLeaf(walletOf("genesis"), LOCAL_DEPLOYMENT.custodyProgram));
const origin = printLogOrigin({ name: "bench.example", networkId, generation: 0 });
const logKey = verifierKey(origin, "ed25519", key.publicKey);
const size = EVENTS - 1000;
const text = checkpointText({ origin, size, root: await rootOf(url, size) });
const checkpoint = printSignedNote({
  text,
  signatures: [{ name: origin, id: logKey.id, signature: key.sign(noteMessage(text)) }],
});
await serviceBundle();
const startedMs = performance.now();
const witness = await startWitness({
  folder: dataDir,
  number: 1,
  log: `${printVerifierKey(logKey)} ${url}`,
  rpcUrl,
});
const listeningMs = performance.now() - startedMs;
const answer = await fetch(`${witness.policy.split(" ")[3]}/add-checkpoint`, {
  method: "POST",
  body: printAddCheckpoint({ oldSize: 0, proof: [], checkpoint }),
});
if (answer.status !== 200) throw new Error(`the witness answered ${answer.status}`);
const cosignedMs = performance.now() - startedMs;
report({
  name: `a witness of ${EVENTS} events, from its start to its first cosignature`,
  goal: "<= 5000 ms",
  figure: cosignedMs,
  unit: "ms",
  ratio: `it listens after ${listeningMs.toFixed(0)} ms; ${residentMb(witness.pid).toFixed(1)} MB`,
  pass: cosignedMs <= 5000,
});
await witness.stop();
await service.stop();
await node.stop();
rmSync(dataDir, { recursive: true });

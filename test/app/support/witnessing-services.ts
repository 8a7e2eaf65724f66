import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ed25519Key } from "../../../adapters/signer/ed25519-key.ts";
import { address } from "../../../core/domain/address.ts";
import { printLogOrigin } from "../../../core/log/checkpoint/log-origin.ts";
import { networkIdOf, networkLeaf } from "../../../core/log/leaf/event-leaf.ts";
import {
  type KeyUse,
  printVerifierKey,
  verifierKey,
} from "../../../core/log/notes/verifier-key.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { spawnLedger } from "../../adapters/local-ledger/ledger-process.ts";
import { startGate } from "./gate.ts";
import { quietEnvironment, runService, temporaryDirectory } from "./running-service.ts";
import { serveNode } from "../../simulation/serve-node.ts";
import { answersOf, type Lie as AccountLie, lyingAbout } from "../../world/node-faults.ts";

/** The bytes that a node shows for an account in place of the true ones. */
export type Lie = (address: string, data: Uint8Array) => Uint8Array;

/** A node of the ledger at `rpcUrl` that tells the truth about every account while `lie` is null. */
export const lyingNode = (rpcUrl: string) => {
  let lie: Lie | null = null;
  const told = (): AccountLie | null => {
    const now = lie;
    return now && ((address, truth) => truth && { ...truth, data: now(address, truth.data) });
  };
  const server = serveNode(lyingAbout(answersOf(rpcUrl), told));
  return {
    url: server.url,
    lies: (next: Lie | null) => {
      lie = next;
    },
    stop: () => server[Symbol.dispose](),
  };
};

/** Who each service is: its name in policies and the base of its keys' seeds. */
const SERVICES = ["one", "two", "three"] as const;

const seed = (kind: number, at: number) => new Uint8Array(32).fill(kind + at);
const LOG_SEEDS = 10;
const WITNESS_SEEDS = 20;
const EVIDENCE_SEEDS = 30;

const keyLine = (name: string, use: KeyUse, bytes: Uint8Array): string =>
  printVerifierKey(verifierKey(name, use, ed25519Key(bytes).publicKey));

/** The members' lines of a policy: all services' logs and witnesses, without quorum. */
const membersOf = (genesisHash: string, urls: ReadonlyArray<string>) => {
  const networkId = networkIdOf(networkLeaf(address(genesisHash), LOCAL_DEPLOYMENT.custodyProgram));
  return SERVICES.map((name, at) => {
    const origin = printLogOrigin({ name: `${name}.example`, networkId, generation: 0 });
    const url = urls[at] ?? "";
    return {
      name,
      url,
      logKey: keyLine(origin, "ed25519", seed(LOG_SEEDS, at)),
      witness: `witness ${name} ${keyLine(`${name}.example`, "cosignature", seed(WITNESS_SEEDS, at))} ${url}/witness\n`,
    };
  });
};

/**
 * Three services, each with a log, a witness of the other two logs, and a node of its own over one local ledger. A log
 * wants the cosignature of one of the other two.
 */
export const startWitnessingServices = async () => {
  const directory = await temporaryDirectory();
  const ledger = await spawnLedger(join(directory.path, "ledger"), "--supervised");
  const nodes = SERVICES.map(() => lyingNode(ledger.ready.rpc_url));
  // The services need each other's addresses before they start.
  const gates = SERVICES.map(startGate);
  const services: Array<Awaited<ReturnType<typeof runService>>> = [];
  const stop = async (): Promise<void> => {
    await Promise.all(services.map((service) => service.stop()));
    await Promise.all(gates.map((gate) => gate.stop()));
    for (const node of nodes) node.stop();
    ledger.child.kill();
    await ledger.child.exited;
    await directory.remove();
  };
  try {
    const members = membersOf(
      ledger.ready.genesis_hash,
      gates.map(({ url }) => url),
    );
    for (const [at, { name }] of members.entries()) {
      const save = async (file: string, content: string): Promise<string> => {
        const path = join(directory.path, `${name}-${file}`);
        await writeFile(path, content, { mode: 0o600 });
        return path;
      };
      const saveKey = (file: string, kind: number) =>
        save(file, Buffer.from(seed(kind, at)).toString("base64"));
      const others = members.filter((member) => member.name !== name);
      const names = others.map((other) => other.name).join(" ");
      const policy = `${others.map(({ witness }) => witness).join("")}group others any ${names}\nquorum others\n`;
      const service = await runService({
        ...quietEnvironment(join(directory.path, name)),
        SOLANA_RPC_URL: nodes[at]?.url ?? "",
        // Its messages only say that something changed.
        SOLANA_WS_URL: ledger.ready.ws_url,
        CUSTODY_PROGRAM_ID: LOCAL_DEPLOYMENT.custodyProgram,
        ATTESTOR_PROGRAM_ID: LOCAL_DEPLOYMENT.attestorProgram,
        SYNC_INTERVAL_SECONDS: "1",
        EVIDENCE_SIGNING_KEY: Buffer.from(seed(EVIDENCE_SEEDS, at)).toString("base64"),
        LOG_NAME: `${name}.example`,
        LOG_SIGNING_KEY_FILE: await saveKey("log.key", LOG_SEEDS),
        LOG_WITNESSES: await save("policy.txt", policy),
        WITNESS_LOGS: await save(
          "logs.txt",
          others.map(({ logKey, url }) => `${logKey} ${url}\n`).join(""),
        ),
        WITNESS_KEY_FILE: await saveKey("witness.key", WITNESS_SEEDS),
        WITNESS_NAME: `${name}.example`,
      });
      services.push(service);
      gates[at]?.passTo(service.url);
    }
    const urls = services.map(({ url }) => url);
    const logKeyFiles = members.map(({ name }) => join(directory.path, `${name}-log.key`));
    return { ledgerUrl: ledger.ready.rpc_url, nodes, urls, members, logKeyFiles, stop };
  } catch (cause) {
    await stop();
    throw cause;
  }
};

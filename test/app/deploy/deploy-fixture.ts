import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "bun:test";
import { EMPTY_GENESIS } from "../../../adapters/local-ledger/genesis/genesis.ts";
import { ed25519PublicKey } from "../../../adapters/signer/ed25519-key.ts";
import { deployOptions } from "../../../app/deploy/inputs/deploy-options.ts";
import { DeployStopped } from "../../../app/deploy/deploy-stopped.ts";
import { runDeploy } from "../../../app/deploy/run-deploy.ts";
import { addressFromBytes } from "../../../core/domain/address.ts";
import { decodeBufferAccount } from "../../../core/protocol/accounts/loader-v3.ts";
import { UPGRADEABLE_LOADER } from "../../../core/protocol/addresses/well-known-addresses.ts";
import { call, startLedger } from "../../adapters/local-ledger/ledger-fixture.ts";
import { tmpdir } from "../../temporary-root.ts";

/**
 * Short slots: a deployment waits for some ten of them. A blockhash is valid for 150, nine seconds, in which a busy
 * machine sends what it signed.
 */
const SLOT_MS = 60;

/** A JSON-RPC request as a stand-in for a node sees it. */
export type Request = {
  readonly id: number;
  readonly method: string;
  readonly params: ReadonlyArray<unknown>;
};

/** What stands between a command and the ledger: the answer's text, or undefined for the ledger's own. */
export type Between = (
  request: Request,
  forward: () => Promise<string>,
) => Promise<string | undefined>;

/** An empty ledger behind its real JSON-RPC, and a folder for keys and settings. */
export const emptyCluster = async (slotMs = SLOT_MS) => {
  const ledger = startLedger({ genesis: EMPTY_GENESIS, slotMs });
  const folder = await mkdtemp(join(tmpdir(), "deploy-"));
  let between: Between = () => Promise.resolve(undefined);
  const proxy = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (incoming) => {
      const body = await incoming.text();
      const forward = async () => (await fetch(ledger.url, { method: "POST", body })).text();
      const answer = await between(JSON.parse(body) as Request, forward);
      return new Response(answer ?? (await forward()), {
        headers: { "content-type": "application/json" },
      });
    },
  });
  const url = `http://127.0.0.1:${proxy.port}`;
  const path = (name: string): string => join(folder, name);

  return {
    url,
    path,
    ledger: ledger.ledger,
    setBetween: (next: Between | undefined): void => {
      between = next ?? (() => Promise.resolve(undefined));
    },
    /** The options of `bun run deploy` with these arguments in place of the usual ones. */
    options: (changes: Partial<Parameters<typeof deployOptions>[0]> = {}) =>
      deployOptions({
        rpc: url,
        "payer-key": path("payer.json"),
        "new-payer": false,
        airdrop: false,
        "new-mint": false,
        yes: true,
        keys: path("keys"),
        "env-file": path(".env"),
        final: false,
        demo: false,
        ...changes,
      }),
    env: () => readFile(path(".env"), "utf8"),
    /** A key file as solana-keygen writes it, and its address. */
    keyFile: async (name: string, mode = 0o600) => {
      const seed = crypto.getRandomValues(new Uint8Array(32));
      const publicKey = ed25519PublicKey(seed);
      await Bun.write(path(name), JSON.stringify([...seed, ...publicKey]));
      await chmod(path(name), mode);
      return { path: path(name), address: addressFromBytes(publicKey) };
    },
    give: (to: string, lamports: bigint) =>
      call(ledger.url, "requestAirdrop", to, Number(lamports)),
    balance: (of: Parameters<typeof ledger.ledger.accounts.read>[0]): bigint =>
      ledger.ledger.accounts.read(of, "processed")?.lamports ?? 0n,
    /** The buffers that stand on the ledger, whoever made them. */
    buffers: () =>
      [...ledger.ledger.accounts.ofOwner(UPGRADEABLE_LOADER, { bytesAt: [] }, "processed")].filter(
        ([, { owner, data }]) => decodeBufferAccount({ owner, data }) !== undefined,
      ),
    stop: async () => {
      await proxy.stop(true);
      await ledger.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

/** See `emptyCluster`. */
export type EmptyCluster = Awaited<ReturnType<typeof emptyCluster>>;

/** Runs a deployment without a terminal and returns what it said. */
export const deploy = async (options: ReturnType<EmptyCluster["options"]>) => {
  const said: Array<string> = [];
  const deployed = await runDeploy(options, { say: (line) => void said.push(line), ask: null });
  return { ...deployed, said: said.join("\n") };
};

/** How work is refused: its one line and exit code. Fails when it is not. */
export const refusalOf = async (work: () => unknown): Promise<string> => {
  try {
    await work();
  } catch (cause) {
    if (!(cause instanceof DeployStopped)) throw cause;
    expect(cause.exitCode).toBeGreaterThan(0);
    expect(cause.message).not.toContain("\n");
    return `${cause.exitCode}: ${cause.message}`;
  }
  throw new Error("it was not refused");
};

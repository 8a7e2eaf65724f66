import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { LOCAL_FAUCET } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { runLocally } from "../../adapters/local-ledger/genesis/local-transactions.ts";
import type { LocalLedger } from "../../adapters/local-ledger/runtime/ledger.ts";
import { writable, writableSigner } from "../../core/domain/ledger/instruction.ts";
import { fieldWriter } from "../../core/protocol/accounts/byte-fields.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { SYSTEM_PROGRAM } from "../../core/protocol/addresses/well-known-addresses.ts";
import { startLedger } from "../adapters/local-ledger/ledger-fixture.ts";
import { archivedGenesis, RELEASED_ESCROW } from "./support/archived-genesis.ts";
import { bundledScript } from "./support/bundled-script.ts";
import {
  quietEnvironment,
  runService,
  temporaryDirectory,
  untilReady,
} from "./support/running-service.ts";

const ESCROW = RELEASED_ESCROW;
const VERIFY = fileURLToPath(new URL("../../app/commands/verify.ts", import.meta.url));

let lastBytes: Uint8Array;

/** A transfer by the System program: tag 2, u64 lamports. */
const sendLamport = (ledger: LocalLedger): void => {
  runLocally(
    ledger,
    LOCAL_FAUCET,
    [],
    [
      {
        programAddress: SYSTEM_PROGRAM,
        accounts: [writableSigner(LOCAL_FAUCET.address), writable(ESCROW)],
        data: fieldWriter(12).u32(2).u64(1n).done(),
      },
    ],
  );
};

/** Its tombstone gets a lamport afterwards. */
const genesis = archivedGenesis((bytes, filled) => {
  lastBytes = bytes;
  sendLamport(filled);
});

type Service = Awaited<ReturnType<typeof runService>>;

const directories: Array<Awaited<ReturnType<typeof temporaryDirectory>>> = [];
const running: Array<Service> = [];
let ledger: ReturnType<typeof startLedger>;

/** A service on the ledger with an index of its own, which it syncs or leaves empty. */
const start = async (): Promise<Service> => {
  const directory = await temporaryDirectory();
  directories.push(directory);
  const service = await runService({
    ...quietEnvironment(directory.path),
    SOLANA_RPC_URL: ledger.url,
    SOLANA_CLUSTER: "localnet",
    CUSTODY_PROGRAM_ID: LOCAL_DEPLOYMENT.custodyProgram,
    ATTESTOR_PROGRAM_ID: LOCAL_DEPLOYMENT.attestorProgram,
    EVIDENCE_SIGNING_KEY: Buffer.alloc(32, 7).toString("base64"),
    SYNC_INTERVAL_SECONDS: "0",
  });
  running.push(service);
  await untilReady(service.url);
  return service;
};

const textOf = async ({ url }: Service, path: string): Promise<string> =>
  (await fetch(url + path)).text();

beforeAll(() => {
  ledger = startLedger({ genesis });
});
afterAll(async () => {
  await Promise.all(running.map((service) => service.stop()));
  await ledger.stop();
  await Promise.all(directories.map(({ remove }) => remove()));
});

describe("a released escrow that was archived a week later", () => {
  test("is still read by a service that never saw it", async () => {
    const service = await start();
    const { data, context } = JSON.parse(await textOf(service, `/v1/escrows/${ESCROW}`)) as {
      readonly data: { readonly [member: string]: unknown };
      readonly context: unknown;
    };
    const digest = createHash("sha256").update(lastBytes).digest("hex");
    expect(data).toMatchObject({
      escrow_pda: ESCROW,
      state: "Fulfilled",
      amount_stroops: "12500000",
      // Of the lamports that strangers sent it afterwards.
      next_actions: [{ action: "return_rent" }],
      archived: { state: "Fulfilled", digest },
    });
    expect(context).toMatchObject({ commitment: "finalized" });
  });

  test("has a packet that verifies offline, and against a node by its digest", async () => {
    const service = await start();
    const [packet, trust] = await Promise.all([
      textOf(service, `/v1/evidence/${ESCROW}`),
      textOf(service, "/.well-known/evidence-trust.json"),
    ]);
    const { data, references } = JSON.parse(packet) as {
      readonly data: { readonly account: { readonly data_base64: string } };
      readonly references: { readonly archived: unknown };
    };
    expect(data.account.data_base64).toBe(Buffer.from(lastBytes).toString("base64"));
    expect(references.archived).toEqual({
      digest: createHash("sha256").update(lastBytes).digest("hex"),
    });
    const folder = directories.at(-1)?.path ?? "";
    await Bun.write(join(folder, "packet.json"), packet);
    await Bun.write(join(folder, "trust.json"), trust);
    const command = await bundledScript(VERIFY);
    const verify = async (...args: ReadonlyArray<string>) => {
      const all = ["packet.json", "--trust", "trust.json", "--json", ...args];
      const child = Bun.spawn([process.execPath, command, ...all], { cwd: folder, stdout: "pipe" });
      const text = await new Response(child.stdout).text();
      const { verdict, checks } = JSON.parse(text) as {
        readonly verdict: string;
        readonly checks: ReadonlyArray<{ readonly name: string; readonly outcome: string }>;
      };
      const account = checks.find(({ name }) => name === "account_on_ledger")?.outcome;
      return { code: await child.exited, verdict, account };
    };
    expect(await verify()).toEqual({ code: 0, verdict: "verified", account: "unproven" });
    expect(await verify("--rpc", ledger.url)).toEqual({
      code: 0,
      verdict: "verified",
      account: "passed",
    });
  });
});

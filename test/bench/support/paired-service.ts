import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LOCAL_USDC_MINT, localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { ROLES } from "../../../adapters/http/escrow/next-action-contract.ts";
import type { Address } from "../../../core/domain/address.ts";
import { decodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { labelled } from "../../simulation/world-escrow.ts";
import { quietEnvironment, until } from "../../app/support/running-service.ts";
import { cpuSecondsOf } from "./child.ts";
import { embeddedLedger } from "./embedded-ledger.ts";

/** Escrows beside those of the demo data: more than a page. */
const ESCROWS = 120;
const agent = localKey("agent/planner");
const merchant = localKey("merchant/forecast");

type Page = {
  readonly data: ReadonlyArray<{ readonly escrow_pda: string; readonly state: string }>;
  readonly page: { readonly next_cursor: string | null };
};
type PreparedInstruction = {
  readonly program_address: Address;
  readonly accounts: ReadonlyArray<{ readonly address: Address; readonly role: string }>;
  readonly data_base64: string;
};

/** A port that was free a moment ago. */
const freePort = async (): Promise<string> => {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const { port } = server;
  await server.stop(true);
  return String(port);
};

/** A request for a preparation, of a task that no other number has. */
export const prepareBody = (number: number): string =>
  JSON.stringify({
    agent_owner: agent.address,
    merchant: merchant.address,
    mint: LOCAL_USDC_MINT,
    amount_stroops: "1000",
    ttl_seconds: 3600,
    task_hash:
      number.toString(16).padStart(16, "0") +
      Buffer.from(labelled("task")).toString("hex").slice(16),
  });

/**
 * The service of the sources in `tree`, on an embedded ledger with the demo data and further escrows, on the first core
 * where Linux has `taskset`. Its log tells errors only, because what a request writes there is no part of its answer.
 */
export const startPairedService = async (tree: string) => {
  const port = await freePort();
  const many = "1000000";
  const oneCore = Bun.which("taskset") === null ? [] : ["taskset", "-c", "0"];
  const child = Bun.spawn([...oneCore, process.execPath, "app/main.ts"], {
    cwd: tree,
    env: {
      ...process.env,
      ...quietEnvironment(mkdtempSync(join(tmpdir(), "settlement-bench-"))),
      PORT: port,
      RATE_LIMIT_READS: many,
      RATE_LIMIT_PREPARE: many,
      RATE_LIMIT_RELAY: many,
      RATE_LIMIT_SYNC: many,
    },
    stdout: "ignore",
    stderr: "inherit",
  });
  const url = `http://127.0.0.1:${port}`;
  const text = async (path: string, body?: string): Promise<string> => {
    const headers = { "content-type": "application/json" };
    const post = body === undefined ? {} : { method: "POST", headers, body };
    return (await fetch(url + path, post)).text();
  };
  const page = async (query: string) => JSON.parse(await text(`/v1/indexer?${query}`)) as Page;
  await until(
    `${tree} is ready`,
    () =>
      fetch(`${url}/ready`).then(
        ({ status }) => status,
        () => child.exitCode,
      ),
    (status) => status === 200,
  );

  const { call, latestBlockhash, signed } = await embeddedLedger(url);
  const blockhash = await latestBlockhash();
  for (let number = 0; number < ESCROWS; number++) {
    const prepared = JSON.parse(await text("/v1/escrows/prepare", prepareBody(number))) as {
      readonly data: { readonly instruction: PreparedInstruction };
    };
    const { program_address, accounts, data_base64 } = prepared.data.instruction;
    const roles: ReadonlyArray<string> = ROLES;
    const instruction = {
      programAddress: program_address,
      accounts: accounts.map(({ address, role }) => ({
        address,
        role: roles.indexOf(role) as 0 | 1 | 2 | 3,
      })),
      data: decodeBase64(data_base64) ?? new Uint8Array(),
    };
    const transaction = signed(agent, instruction, blockhash);
    await call("sendTransaction", transaction, { encoding: "base64", skipPreflight: true });
  }
  const rows = await until(
    "the index has all escrows",
    async () => (await page("limit=500")).data,
    ({ length }) => length >= ESCROWS,
  );
  const settled = rows.find(({ state }) => state === "Fulfilled")?.escrow_pda;
  if (settled === undefined) throw new Error("the demo data has no fulfilled escrow");
  const cursors: Array<string> = [];
  for (let cursor = ""; cursors.length < rows.length - 50;) {
    const { next_cursor } = (await page(`limit=1${cursor && `&cursor=${cursor}`}`)).page;
    if (next_cursor === null) throw new Error("the list ended before its end");
    cursors.push((cursor = next_cursor));
  }
  return {
    url,
    text,
    settled,
    /** Cursors of pages of 50 that are neither the first nor the last. */
    cursors,
    stop: async (): Promise<void> => {
      child.kill();
      await child.exited;
    },
    /** The CPU time of its process so far, seconds. */
    cpuSeconds: (): number => cpuSecondsOf(child.pid),
  };
};

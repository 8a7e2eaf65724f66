import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { BODY_AT } from "../../../adapters/sql/escrow-body.ts";
import { policyIn } from "../../../client/pinned-policy.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { verifyEvidence } from "../../../core/protocol/verification/verify-evidence.ts";
import { runService, until } from "../../app/support/running-service.ts";
import { environmentOn } from "../../chaos/support/service-environment.ts";
import { tmpdir } from "../../temporary-root.ts";
import { remoteBackend } from "../backends.ts";
import { hostileNode } from "../hostile-node.ts";
import { scenarioOfTest } from "../one-index.ts";
import { type Payment, startTrueLedger, type TrueLedger } from "./true-ledger.ts";

const away = scenarioOfTest("is away", () => () => ({
  http: { status: 503, body: "Service unavailable" },
}));

let ledger: TrueLedger;
let node: ReturnType<typeof hostileNode>;
let folder: string;
let service: Awaited<ReturnType<typeof runService>>;
let settled: Payment;
let pending: Payment;
let trust: string;

type Escrow = { readonly state: string; readonly created_seq: string };

const ask = async (path: string, init?: RequestInit) => {
  const response = await fetch(service.url + path, init);
  return { status: response.status, text: await response.text() };
};
const relay = async ({ base64 }: { readonly base64: string }): Promise<void> => {
  const body = JSON.stringify({ signed_transaction: base64, confirm: true });
  const headers = { "content-type": "application/json" };
  const { status, text } = await ask("/v1/relay", { method: "POST", headers, body });
  if (status !== 202 || !text.includes('"confirmed"')) throw new Error(text);
};

beforeAll(async () => {
  ledger = await startTrueLedger();
  const backend = remoteBackend(ledger.rpcUrl, ledger.webSocketUrl);
  node = hostileNode({ backend, scenario: away, seed: 1 });
  node.setHostile(false);
  folder = await mkdtemp(join(tmpdir(), "node-away-"));
  service = await runService({
    ...environmentOn(node.url, folder),
    SOLANA_WS_URL: node.webSocketUrl,
    EVIDENCE_SIGNING_KEY: encodeBase64(new Uint8Array(32).fill(7)),
    LOG_SIGNING_KEY: encodeBase64(new Uint8Array(32).fill(8)),
    LOG_NAME: "log.example",
  });
  await until(
    "the service is ready",
    () => ask("/ready"),
    ({ status }) => status === 200,
  );
  ({ text: trust } = await ask("/.well-known/evidence-trust.json"));
  [settled, pending] = [ledger.payment("settled"), ledger.payment("pending")];
  for (const { create } of [settled, pending]) await relay(await create());
  await relay(await settled.cancel());
  // Every event of the ledger so far is final, in the index, and below a published checkpoint.
  const { text } = await ask(`/v1/escrows/${pending.escrow}`);
  const last = BigInt((JSON.parse(text) as { readonly data: Escrow }).data.created_seq) + 1n;
  await until(
    "the log has every event",
    () => ask("/log/checkpoint"),
    ({ status, text: note }) => status === 200 && BigInt(note.split("\n")[1] ?? "0") > last,
  );
  node.setHostile(true);
}, 120_000);

afterAll(async () => {
  await service.stop();
  node[Symbol.dispose]();
  await ledger.stop();
  await rm(folder, { recursive: true, force: true });
});

test("a settled escrow is shown from the index, dated by its mark", async () => {
  const { status, text } = await ask(`/v1/escrows/${settled.escrow}`);
  expect(JSON.parse(text)).toMatchObject({
    data: { escrow_pda: settled.escrow, state: "Refunded", archived: null },
    context: { commitment: "finalized", source: "index" },
  });
  const list = await ask("/v1/indexer?limit=1");
  const { index } = JSON.parse(list.text) as { readonly index: { last_synced_slot: number } };
  const { context } = JSON.parse(text) as { readonly context: { readonly slot: number } };
  expect([status, context.slot]).toEqual([200, index.last_synced_slot]);
}, 60_000);

test("its packet is made from the index, and verifies with the proof of the log", async () => {
  const { status, text } = await ask(`/v1/evidence/${settled.escrow}`);
  expect([status, text.slice(0, 200)]).toEqual([200, expect.stringContaining('"data"')]);
  const packet = JSON.parse(text) as {
    readonly references: { readonly observed: unknown; readonly log: unknown };
    readonly signature: { readonly status: string };
  };
  expect(packet.signature.status).toBe("signed");
  expect(packet.references.observed).toMatchObject({ commitment: "finalized" });
  expect(packet.references.log).not.toBeNull();
  const verdict = verifyEvidence(text, policyIn(trust));
  expect(verdict.checks.filter(({ outcome }) => outcome === "failed")).toEqual([]);
}, 60_000);

test("nobody who can write to the store has other evidence signed", async () => {
  const store = new Database(join(folder, "index.sqlite"));
  try {
    const row = store
      .query<{ created_seq: number; body: Uint8Array }, []>(
        "SELECT created_seq, body FROM escrow WHERE settled_seq IS NOT NULL ORDER BY settled_seq DESC LIMIT 1",
      )
      .get();
    if (row === null) throw new Error("no settled escrow");
    const forged = row.body.slice();
    forged[BODY_AT.amount] = 99;
    const write = store.query("UPDATE escrow SET body = ?1 WHERE created_seq = ?2");
    write.run(forged, row.created_seq);
    const { status, text } = await ask(`/v1/evidence/${settled.escrow}`);
    expect([status, text]).toEqual([502, expect.stringContaining("ledger_unavailable")]);
    write.run(row.body, row.created_seq);
    expect((await ask(`/v1/evidence/${settled.escrow}`)).status).toBe(200);
  } finally {
    store.close();
  }
}, 60_000);

test("a Pending escrow and an unknown address wait for a node", async () => {
  for (const { escrow } of [pending, ledger.payment("never made")])
    for (const path of ["escrows", "evidence"]) {
      const { status, text } = await ask(`/v1/${path}/${escrow}`);
      const { code } = JSON.parse(text) as { readonly code: string };
      expect([path, code, status]).toEqual([
        path,
        expect.stringMatching(/^ledger_/),
        expect.any(Number),
      ]);
      expect(status).toBeGreaterThanOrEqual(502);
    }
}, 60_000);

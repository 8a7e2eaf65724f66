import { expect, test } from "bun:test";
import { localKey } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { connect } from "../../client/connect.ts";
import { connectMerchant } from "../../client/merchant/connect-merchant.ts";
import { memoryAttestations } from "../../client/merchant/settle/attestation-journal.ts";
import { keySigner } from "../../client/node/key-file.ts";
import { SettlementError } from "../../client/settlement-error.ts";
import type { Fetch } from "../../client/service/fetch-directly.ts";
import { taskHash } from "../../core/domain/escrow/task-hash.ts";
import { escrowAddress } from "../../core/protocol/addresses/addresses.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { AGENT, countingSigner, PAYMENT, TRUST } from "./support/fake-service.ts";
import { pendingRecord } from "./support/pending-record.ts";
import { testClock } from "./support/test-clock.ts";

const task = taskHash(PAYMENT.task, PAYMENT.nonce);
const escrow = escrowAddress(LOCAL_DEPLOYMENT, AGENT, task).address;
const RECORD = pendingRecord(task, "1500000");
const ESCAPES = "x\u001b[2J\u202e\r\n{}\u{e0041}";
const JUNK: ReadonlyArray<unknown> = [
  null,
  5,
  [],
  {},
  [null],
  "x",
  undefined,
  ESCAPES,
  "A".repeat(100_000),
  { toString: 1 },
];

/** Bodies that are JSON, and not what a service answers. */
const BODIES: ReadonlyArray<unknown> = [
  null,
  5,
  [],
  {},
  { data: null },
  { data: 5 },
  { data: { transaction: 5 } },
  { data: { transaction: { base64: 5 } } },
  ...JUNK.map((junk) => ({ data: { transaction: { base64: junk } } })),
  ...JUNK.map((junk) => ({
    data: { status: "landed", error: { kind: junk }, program_error: { name: junk, message: junk } },
  })),
  { data: RECORD, context: null },
  ...JUNK.flatMap((junk) => [
    { data: [junk], page: { next_cursor: null }, index: { unseen: 0 } },
    { data: [], page: { next_cursor: junk }, index: { unseen: 0 } },
    { data: [], page: junk, index: junk },
    { data: { transaction: junk } },
    { data: { name: junk, attestor: junk, previous_attestor: junk } },
  ]),
  ...Object.keys(RECORD).flatMap((name) =>
    JUNK.map((junk) => ({
      data: { ...RECORD, [name]: junk },
      context: { ledger_time: "2026-11-22T01:00:00Z" },
    })),
  ),
];

const attestor = keySigner(localKey("attestor/forecast").seed);
const signer = { publicKey: attestor.address, sign: attestor.signMessage };
const wallet = keySigner(localKey("merchant/forecast").seed);
const walletSigner = { publicKey: wallet.address, sign: wallet.signMessage };

const CALLS: Readonly<Record<string, (fetch: Fetch, signal: AbortSignal) => Promise<unknown>>> = {
  pay: (fetch, signal) =>
    connect("http://service.example", { trust: TRUST, fetch, clock: testClock().clock }).pay({
      ...PAYMENT,
      signer: countingSigner().signer,
      signal,
    }),
  refund: (fetch, signal) =>
    connect("http://service.example", { trust: TRUST, fetch, clock: testClock().clock }).refund(
      escrow,
      { signer: countingSigner().signer, signal },
    ),
  attest: (fetch, signal) =>
    connectMerchant("http://service.example", {
      trust: TRUST,
      fetch,
      clock: testClock().clock,
    }).attest({
      escrow,
      payload: { task_hash: task },
      template: null,
      attestor: signer,
      journal: memoryAttestations(),
      signal,
    }),
  cancel: (fetch, signal) =>
    connectMerchant("http://service.example", {
      trust: TRUST,
      fetch,
      clock: testClock().clock,
    }).cancel({ escrow, wallet: walletSigner, signal }),
  settled: (fetch, signal) =>
    connect("http://service.example", { trust: TRUST, fetch, clock: testClock().clock }).settled(
      escrow,
      { signal, quorumWithinMs: 1 },
    ),
  register: (fetch, signal) =>
    connectMerchant("http://service.example", {
      trust: TRUST,
      fetch,
      clock: testClock().clock,
    }).register({ wallet: walletSigner, attestor: attestor.address, name: "Forecast", signal }),
  rotate: (fetch, signal) =>
    connectMerchant("http://service.example", {
      trust: TRUST,
      fetch,
      clock: testClock().clock,
    }).rotate({ wallet: walletSigner, attestor: AGENT, signal }),
  watch: (fetch, signal) =>
    connectMerchant("http://service.example", { trust: TRUST, fetch, clock: testClock().clock })
      .watch({ merchant: wallet.address, once: true, signal })
      .next(),
  export: (fetch, signal) =>
    connectMerchant("http://service.example", {
      trust: TRUST,
      fetch,
      clock: testClock().clock,
    }).export({ merchant: wallet.address, signal }),
};

// oxlint-disable-next-line no-control-regex
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u{e0000}-\u{e0fff}]/u;
/** Longer than any text of a result, and than both sides of a transaction in a message. */
const MOST = 20_000;

test.each(Object.entries(CALLS))(
  "%s says of every malformed answer that the service gave it",
  async (_, call) => {
    for (const body of BODIES) {
      const ended = new AbortController();
      let asked = 0;
      const fetch: Fetch = () => {
        // What goes on asking is ended: it was not stopped by what it was given.
        if (++asked > 50) ended.abort(new SettlementError("asked_on", "It asks on.", "End it."));
        return Promise.resolve(Response.json(body));
      };
      const [result, cause] = await call(fetch, ended.signal).then(
        (given) => [given, null] as const,
        (thrown: unknown) => [null, thrown] as const,
      );
      expect(JSON.stringify(result).length).toBeLessThan(MOST);
      expect(JSON.stringify(result)).not.toMatch(/\\u001b|\u202e|\u{e0041}/u);
      if (cause === null) continue;
      expect({ body, cause }).toEqual({ body, cause: expect.any(SettlementError) });
      const { code, message, cure } = cause as SettlementError;
      expect(code).toMatch(/^[A-Za-z0-9_]{1,64}$/);
      expect(`${message}${cure}`).not.toMatch(UNSEEN);
      expect(message.length + cure.length).toBeLessThan(MOST);
    }
  },
);

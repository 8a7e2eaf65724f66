import { expect, test } from "bun:test";
import { localKey } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { connect } from "../../client/connect.ts";
import { connectMerchant } from "../../client/merchant/connect-merchant.ts";
import { memoryAttestations } from "../../client/merchant/settle/attestation-journal.ts";
import { keySigner } from "../../client/node/key-signer.ts";
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
const JUNK = [null, 5, [], {}, [null], "x", undefined];

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
  { data: RECORD, context: null },
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
};

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
      const cause = await call(fetch, ended.signal).then(
        () => null,
        (thrown: unknown) => thrown,
      );
      if (cause !== null)
        expect({ body, cause }).toEqual({ body, cause: expect.any(SettlementError) });
    }
  },
);

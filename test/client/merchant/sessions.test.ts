import { expect, test } from "bun:test";
import { localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { connectMerchant } from "../../../client/merchant.ts";
import { taskHash } from "../../../core/domain/escrow/task-hash.ts";
import { MERCHANT, MINT, TRUST } from "../support/fake-service.ts";
import { pendingRecord } from "../support/pending-record.ts";
import { testClock } from "../support/test-clock.ts";

const SESSION_KEY = localKey("a session").address;
const RECORD = {
  ...pendingRecord(taskHash("a session", "1"), "10000000"),
  session_key: SESSION_KEY,
  symbol: "USDC",
  attested_at: null,
  settled_at: null,
  refundable: false,
};
/** As the index shows it while Pending: it holds the creation's bytes, so nobody knows there what is captured. */
const ROW = { ...RECORD, released_stroops: null, left_stroops: null, deliveries: null };

/** A merchant at a service whose index has these rows, and whose live record of the session is what `live` gives. */
const merchantAt = (rows: ReadonlyArray<object>, live: () => object, counted: object = {}) => {
  let reads = 0;
  const time = testClock();
  const merchant = connectMerchant("http://service.example", {
    trust: TRUST,
    clock: time.clock,
    fetch: (url) => {
      const { pathname } = new URL(url);
      const answer = (body: object) => Promise.resolve(Response.json(body));
      if (pathname === "/v1/status") return answer({ data: { settlement_mint: MINT } });
      if (pathname === "/v1/indexer")
        return answer({ data: rows, page: { next_cursor: null }, index: { unseen: 0 } });
      if (pathname.startsWith("/v1/escrows/")) {
        reads++;
        return answer({ data: live() });
      }
      const none = { deliveries: 0, partial_deliveries: 0, volume_stroops: "0", revoked_seq: null };
      return answer({ data: { ...none, ...counted } });
    },
  });
  return { merchant, time, reads: () => reads };
};

test("an open session is watched with what is used of it and what is left, and told again when its agent closes it", async () => {
  const release = { next_actions: [{ action: "capture" }, { action: "release_escrow" }] };
  let record: object = {
    ...RECORD,
    ...release,
    released_stroops: "3000000",
    left_stroops: "7000000",
    deliveries: 300,
  };
  const { merchant, time, reads } = merchantAt([ROW], () => record);
  const stop = new AbortController();
  const watched = merchant.watch({ merchant: MERCHANT, signal: stop.signal });
  expect((await watched.next()).value).toMatchObject({
    awaits: "session",
    session_key: SESSION_KEY,
    released_stroops: "3000000",
    left_stroops: "7000000",
    deliveries: 300,
    ends_at: RECORD.expires_at,
  });
  record = { ...record, closes_at: "2026-11-22T02:00:00Z" };
  const closed = (await watched.next()).value;
  expect(closed).toMatchObject({ awaits: "session", ends_at: "2026-11-22T02:00:00Z" });
  expect([reads(), time.pauses]).toEqual([2, Array.from({ length: 29 }, () => 2000)]);
  record = { ...record, next_actions: [{ action: "claim_refund" }] };
  expect((await watched.next()).value).toMatchObject({ awaits: "refund" });
  stop.abort();
});

test("an open single payment has all of it left, and a settled escrow nothing", async () => {
  const lineOf = async (live: object) => {
    const { merchant } = merchantAt([ROW], () => live);
    return (await merchant.watch({ merchant: MERCHANT, once: true }).next()).value;
  };
  expect(await lineOf({ ...RECORD, session_key: null })).toMatchObject({
    awaits: "attestation",
    session_key: null,
    left_stroops: "10000000",
  });
  const settled = {
    state: "PartiallyFulfilled",
    settled_by: "cancel",
    left_stroops: "0",
    next_actions: [],
  };
  expect(await lineOf({ ...RECORD, ...settled })).toMatchObject({
    awaits: "nothing",
    left_stroops: "0",
  });
});

test("the books count a session once, at its release, and not what a cancelled or an open one paid", async () => {
  const ended = { ...RECORD, state: "PartiallyFulfilled", released_stroops: "3000000" };
  const rows = [
    ROW,
    { ...ended, escrow_pda: localKey("cancelled").address, settled_by: "cancel", deliveries: 300 },
    { ...ended, escrow_pda: localKey("refunded").address, settled_by: "refund", deliveries: 300 },
    { ...ended, escrow_pda: localKey("released").address, settled_by: "release", deliveries: 300 },
  ];
  const counted = { partial_deliveries: 1, volume_stroops: "3000000" };
  const { merchant } = merchantAt(rows, () => RECORD, counted);
  const books = await merchant.export({ merchant: MERCHANT });
  expect(books.totals).toEqual({ deliveries: 0, ...counted });
  expect(books.rows.map(({ released_stroops }) => released_stroops)).toEqual([
    "3000000",
    "3000000",
    "3000000",
    null,
  ]);
});

test("what sessions owe is captured before the attestor's key changes, and a failure leaves the key", async () => {
  const asked: Array<string> = [];
  const merchant = connectMerchant("http://service.example", {
    trust: TRUST,
    fetch: (url) => {
      asked.push(new URL(url).pathname);
      return Promise.resolve(Response.json({ data: { attestor: SESSION_KEY } }));
    },
  });
  const rotated = merchant.rotate({
    wallet: { publicKey: MERCHANT, sign: () => Promise.resolve(new Uint8Array(64)) },
    attestor: localKey("the next attestor").address,
    seller: {
      pendingCaptures: () => Promise.resolve([]),
      captureAll: () => Promise.reject(new Error("not captured")),
    },
  });
  expect(await rotated.catch(String)).toBe("Error: not captured");
  expect(asked).toEqual([`/v1/merchants/${MERCHANT}`]);
});

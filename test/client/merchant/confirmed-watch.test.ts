import { expect, test } from "bun:test";
import { connectMerchant } from "../../../client/merchant.ts";
import { taskHash } from "../../../core/domain/escrow/task-hash.ts";
import { localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { MERCHANT, MINT, TRUST } from "../support/fake-service.ts";
import { pendingRecord } from "../support/pending-record.ts";
import { testClock } from "../support/test-clock.ts";

const ACTIONS = { next_actions: [{ action: "release_escrow" }] };
const RECORD = {
  ...pendingRecord(taskHash("early", "1"), "10000000"),
  ...ACTIONS,
  session_key: null,
  symbol: "USDC",
  attested_at: null,
  settled_at: null,
  refundable: false,
};

/** A merchant at a service whose stream sends these frames once, and whose index has the escrow from then on. */
const merchantAt = (frames: ReadonlyArray<object>, isIndexed: () => boolean) => {
  const asked: Array<string> = [];
  const merchant = connectMerchant("http://service.example", {
    trust: TRUST,
    clock: testClock().clock,
    fetch: (url) => {
      const { pathname, search } = new URL(url);
      const answer = (body: object) => Promise.resolve(Response.json(body));
      if (pathname === "/v1/status") return answer({ data: { settlement_mint: MINT } });
      if (pathname === "/v1/indexer/events/stream") {
        asked.push(search);
        const text = frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join("");
        const body = asked.length === 1 ? `retry: 2000\n\n${text}data: {not json\n\n` : "";
        return Promise.resolve(new Response(body));
      }
      if (pathname === "/v1/indexer")
        return answer({
          data: isIndexed() ? [RECORD] : [],
          page: { next_cursor: null },
          index: { unseen: 0 },
        });
      if (pathname.startsWith("/v1/escrows/")) return answer({ data: RECORD });
      return answer({
        data: { deliveries: 0, partial_deliveries: 0, volume_stroops: "0", revoked_seq: null },
      });
    },
  });
  return { merchant, asked };
};

const confirmed = { escrow_pda: RECORD.escrow_pda, finality: "confirmed", position: 1 };

test("with confirmed, an escrow is told at once, and again when a fork retracts it or when it is final", async () => {
  let isIndexed = false;
  const { merchant, asked } = merchantAt(
    [
      confirmed,
      { ...confirmed, finality: "retracted" },
      { ...confirmed, escrow_pda: localKey("unknown").address, finality: "retracted" },
      confirmed,
      { ...confirmed, finality: "final" },
      { escrow_pda: "no address", finality: "confirmed" },
    ],
    () => isIndexed,
  );
  const stop = new AbortController();
  const watched = merchant.watch({ merchant: MERCHANT, confirmed: true, signal: stop.signal });
  const next = async () => {
    const { value } = await watched.next();
    return value && [value.finality, value.escrow, value.awaits];
  };
  const { escrow_pda: escrow } = RECORD;
  expect(await next()).toEqual(["confirmed", escrow, "attestation"]);
  expect(await next()).toEqual(["retracted", escrow, "attestation"]);
  expect(await next()).toEqual(["confirmed", escrow, "attestation"]);
  isIndexed = true;
  expect(await next()).toEqual(["final", escrow, "attestation"]);
  expect(asked[0]).toBe(`?merchant=${MERCHANT}&commitment=confirmed`);
  stop.abort();
});

test("without confirmed, and with once, nobody opens a stream", async () => {
  const { merchant, asked } = merchantAt([confirmed], () => true);
  const watched = merchant.watch({ merchant: MERCHANT, confirmed: true, once: true });
  expect((await watched.next()).value).toMatchObject({ finality: "final" });
  expect((await watched.next()).done).toBe(true);
  const plain = merchant.watch({ merchant: MERCHANT });
  expect((await plain.next()).value).toMatchObject({ finality: "final" });
  await plain.return(undefined);
  expect(asked).toEqual([]);
});

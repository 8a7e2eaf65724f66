import { expect, test } from "bun:test";
import { localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { connectMerchant } from "../../../client/merchant/connect-merchant.ts";
import { csvLine } from "../../../client/merchant/escrows/export.ts";
import { AGENT, ATTESTOR, MERCHANT, MINT, TRUST } from "../support/fake-service.ts";
import { failureOf } from "../support/failure-of.ts";
import { testClock } from "../support/test-clock.ts";

const ROW = {
  escrow_pda: localKey("an escrow").address,
  state: "Pending",
  agent_owner: AGENT,
  merchant: MERCHANT,
  mint: MINT,
  amount_stroops: "1000000",
  released_stroops: "0",
  refunded_stroops: "0",
  task_hash: "ab".repeat(32),
  proof_hash: null,
  attestor: ATTESTOR,
  created_at: "2026-11-22T00:00:00Z",
  expires_at: "2026-11-22T10:00:00Z",
  attested_at: null,
  settled_at: null,
  session_key: null,
  deliveries: 0,
  closes_at: null,
  settled_by: null,
  refundable: false,
  next_actions: [],
};

type Page = { readonly rows: ReadonlyArray<object>; readonly cursor: string | null };

/** A merchant at a service whose index gives these pages, and `live` for each escrow. */
const merchantAt = (pageOf: (page: number) => Page, live: object = ROW) => {
  let pages = 0;
  const merchant = connectMerchant("http://service.example", {
    trust: TRUST,
    clock: testClock().clock,
    fetch: (url) => {
      const { pathname } = new URL(url);
      if (pathname === "/v1/status")
        return Promise.resolve(Response.json({ data: { settlement_mint: MINT } }));
      if (pathname.startsWith("/v1/merchants/"))
        return Promise.resolve(
          Response.json({
            data: { deliveries: 0, partial_deliveries: 0, volume_stroops: "0", revoked_seq: null },
          }),
        );
      if (pathname.startsWith("/v1/escrows/"))
        return Promise.resolve(Response.json({ data: live }));
      if (++pages > 1000) throw new Error("asked for pages without end");
      const { rows, cursor } = pageOf(pages);
      return Promise.resolve(
        Response.json({ data: rows, page: { next_cursor: cursor }, index: { unseen: 0 } }),
      );
    },
  });
  return { merchant, pages: () => pages };
};

const exported = (row: object) =>
  merchantAt(() => ({ rows: [row], cursor: null })).merchant.export({ merchant: MERCHANT });

test("a sound row is exported", async () => {
  const { rows } = await exported(ROW);
  expect(rows.map(csvLine)).toEqual([
    [ROW.escrow_pda, "Pending", AGENT, MERCHANT, MINT, "1000000,0,0", ROW.task_hash, "", ATTESTOR]
      .concat([ROW.created_at, ROW.expires_at, "", "", "", "0", "", ""])
      .join(","),
  ]);
});

test.each([
  ["a formula", { agent_owner: '=HYPERLINK("https://thief.example")' }],
  ["another row in a column", { state: `Fulfilled\r\n${ROW.escrow_pda}` }],
  ["a list for a text", { proof_hash: ["a", "b"] }],
  ["a time that is none", { settled_at: "2026-11-22T00:00:00Z,x" }],
  ["an amount beyond u64", { refunded_stroops: "9".repeat(21) }],
  ["an escrow of another merchant", { merchant: AGENT }],
  ["a count with a comma", { deliveries: "1,2" }],
  ["a session key that is none", { session_key: "=1+1" }],
])("an export holds no row with %s", async (_, more) => {
  expect((await failureOf(exported({ ...ROW, ...more }))).code).toBe("unsound_escrow");
});

test("an index whose pages bring nothing new is not asked without end", async () => {
  const { merchant, pages } = merchantAt((page) => ({ rows: [ROW], cursor: `c${page}` }));
  expect((await failureOf(merchant.export({ merchant: MERCHANT }))).code).toBe("unsound_escrow");
  expect(pages()).toBe(2);
});

test.each([
  ["another escrow", { escrow_pda: localKey("another escrow").address }],
  ["another merchant's", { merchant: AGENT }],
])("what awaits a merchant is not read from %s", async (_, more) => {
  const page = () => ({ rows: [ROW], cursor: null });
  const { merchant } = merchantAt(page, { ...ROW, ...more });
  const watched = merchant.watch({ merchant: MERCHANT, once: true });
  expect((await failureOf(watched.next())).code).toBe("unsound_escrow");
});

import { describe, expect, test } from "bun:test";
import { encodeBase64Url } from "../../../../core/domain/encoding/base64.ts";
import { encodeEscrowAccount } from "../../../../core/protocol/accounts/escrow-account.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { AGENT, escrow, MERCHANT, merchant, STRANGER } from "../support/parties.ts";
import {
  checkedClient,
  dataOf,
  jsonOf,
  makeService,
  problemOf,
  TEST_LOG_ID,
} from "../support/service.ts";
import { accountOf } from "../../../doubles/accounts.ts";
import { standing } from "../support/standing-service.ts";

type Page = {
  readonly data: ReadonlyArray<Record<string, unknown>>;
  readonly page: { readonly limit: number; readonly next_cursor: string | null };
  readonly index: { readonly last_synced_slot: number | null };
};

const SETTLED = ["Fulfilled", "Refunded", "PartiallyFulfilled"] as const;
const escrows = [
  ...Array.from({ length: 7 }, (_, i) => escrow(`pending ${i}`, "Pending", BigInt(i % 3))),
  ...SETTLED.map((state) => escrow(state, state, 10n)),
];

const { service, client } = await standing();

const page = async (path: string): Promise<Page> => jsonOf<Page>(await client.send(path));

/** Every row of a list, page by page. */
const walk = async (
  path: string,
  limit: number,
): Promise<ReadonlyArray<Record<string, unknown>>> => {
  const rows: Array<Record<string, unknown>> = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const from = cursor === "" ? "" : `&cursor=${cursor}`;
    const answer: Page = await page(`${path}?limit=${limit}${from}`);
    expect(answer.data.length).toBeLessThanOrEqual(limit);
    rows.push(...answer.data);
    cursor = answer.page.next_cursor;
  }
  return rows;
};

test("a sync reports what it did, including the accounts it refused", async () => {
  service.seed({ escrows, merchants: [merchant(), merchant(STRANGER, "Zebra GmbH")] });
  const owner = LOCAL_DEPLOYMENT.custodyProgram;
  // Accounts that anybody can make are not listed as rejected. Accounts that custody wrote are checked and listed.
  service.ledger.put(accountOf(STRANGER, owner, new Uint8Array(368)));
  const future = encodeEscrowAccount(escrow("from a later version")).with(8, 9);
  service.ledger.put(accountOf(AGENT, owner, future));
  const response = await client.send("/v1/indexer/sync", { method: "POST" });
  expect(response.status).toBe(202);
  expect(await dataOf(response)).toMatchObject({
    status: "completed",
    mode: "snapshot",
    slot: 1000,
    escrows: { seen: 11, created: 10, updated: 0, unchanged: 0, rejected: 1 },
    merchants: { seen: 2, created: 2 },
    events: { added: 13 },
    rejected: [{ address: AGENT, reason: "unknown_version" }],
  });
  const again = await dataOf(await client.send("/v1/indexer/sync", { method: "POST" }));
  expect(again).toMatchObject({
    escrows: { created: 0, updated: 0 },
    events: { added: 0 },
    count: 13,
  });
});

describe("lists", () => {
  test.each([1, 3, 10, 500])("pages of %i together are the whole list, once", async (limit) => {
    for (const path of ["/v1/indexer", "/v1/indexer/events", "/v1/registry/merchants"]) {
      const whole = (await page(`${path}?limit=500`)).data;
      expect(await walk(path, limit)).toEqual([...whole]);
    }
  });

  test("escrows come newest first, and say up to which slot the index is complete", async () => {
    const { data, index } = await page("/v1/indexer");
    expect(index.last_synced_slot).toBe(1000);
    expect(data.map((row) => row["escrow_pda"])).toEqual(
      escrows.map(({ address }) => address as string).toReversed(),
    );
  });
});

test("volume is an amount of USDC only where the settlement mint is listed as USDC", async () => {
  const other = await makeService({ instance: { supportedMints: [] } });
  const { send } = await checkedClient(other);
  other.seed({ merchants: [merchant()] });
  try {
    expect((await send("/v1/indexer/sync", { method: "POST" })).status).toBe(202);
    const unlisted = { volume_stroops: "4500000", volume_usdc: null };
    expect(await dataOf(await send(`/v1/merchants/${MERCHANT}`))).toMatchObject(unlisted);
    expect(await dataOf(await send("/v1/registry/merchants"))).toMatchObject([
      { ...unlisted, stats: { volume_usdc: null } },
    ]);
  } finally {
    await other.runtime.dispose();
  }
});

describe("cursors", () => {
  const cursorOf = async (path: string): Promise<string> => {
    const { next_cursor } = (await page(`${path}?limit=1`)).page;
    if (next_cursor === null) throw new Error(`${path} has one page only`);
    return next_cursor;
  };

  test("any text that is not a cursor is refused", async () => {
    const text = (value: string) => encodeBase64Url(new TextEncoder().encode(value));
    const bad = [
      "",
      "x",
      "AAAA",
      text("escrow:"),
      text("escrow:1"),
      text(`escrow:${TEST_LOG_ID}:-1`),
      text(`escrow:${TEST_LOG_ID}:01`),
      text(`escrow:${TEST_LOG_ID}:1:1`),
      text(`escrow:${TEST_LOG_ID}:99999999999999999999`),
      text(`escrow:${TEST_LOG_ID.toUpperCase()}:1`),
      text(`event:${TEST_LOG_ID}:1.5`),
      `${await cursorOf("/v1/indexer")}=`,
      `${await cursorOf("/v1/indexer")}A`,
    ];
    for (const cursor of bad) {
      const query = new URLSearchParams({ cursor });
      for (const path of ["/v1/indexer", "/v1/registry/merchants"])
        expect(await problemOf(await client.send(`${path}?${query}`))).toBe("400 malformed_cursor");
    }
  });

  test("the cursor of another log says so", async () => {
    const other = encodeBase64Url(new TextEncoder().encode(`escrow:${"0".repeat(16)}:7`));
    const response = await client.send(`/v1/indexer?cursor=${other}`);
    expect(response.status).toBe(400);
    expect(await jsonOf(response)).toMatchObject({
      code: "malformed_cursor",
      detail: expect.stringContaining("belongs to another log"),
    });
  });

  test("a row that arrives between two pages moves nothing", async () => {
    const [first] = (await page("/v1/indexer?limit=3")).data.slice(-1);
    const cursor = (await page("/v1/indexer?limit=3")).page.next_cursor;
    service.seed({ escrows: [escrow("newest", "Pending", -500n)] });
    service.ledger.slot += 1n;
    await client.send("/v1/indexer/sync", { method: "POST" });
    const rest = (await page(`/v1/indexer?cursor=${cursor}`)).data;
    expect(rest.length).toBe(7);
    expect(rest.map((row) => row["escrow_pda"])).not.toContain(first?.["escrow_pda"]);
  });
});

describe("what fails", () => {
  test.each([
    ["ahead", 10n ** 12n, "the ledger cannot have reached it by this service's clock"],
    ["behind", -900n, "is more than 64 below"],
  ])(
    "a node far %s is a 502 with a code of its own, and status and metrics say so",
    async (...lie) => {
      const [, by, detail] = lie;
      const failed = async (code: string) =>
        (await (await client.send("/metrics")).text()).match(
          new RegExp(`index_sync_failed{code="${code}"} (\\S+)`),
        )?.[1];
      service.ledger.slot += by;
      const response = await client.send("/v1/indexer/sync", { method: "POST" });
      const problem = await jsonOf<{ readonly detail: string; readonly cure: string }>(response);
      expect(problem).toMatchObject({ status: 502, code: "slot_beyond_reach" });
      expect(problem.detail).toContain("getEpochInfo (slot ");
      expect(problem.detail).toContain(detail);
      expect(problem.cure).toContain("another node");
      expect(response.headers.get("retry-after")).toBe("1");
      service.ledger.slot -= by;
      expect(await dataOf(await client.send("/v1/status"))).toMatchObject({
        indexer: { status: "degraded", last_error: "slot_beyond_reach" },
      });
      expect(await failed("slot_beyond_reach")).toBe("1");
      expect(await failed("ledger_unavailable")).toBe("0");
      await client.send("/v1/indexer/sync", { method: "POST" });
      expect(await dataOf(await client.send("/v1/status"))).toMatchObject({
        indexer: { status: "online", last_error: null },
      });
      expect(await failed("slot_beyond_reach")).toBe("0");
    },
  );
});

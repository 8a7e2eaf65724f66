import { describe, expect, test } from "bun:test";
import { localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { connect } from "../../../client/connect.ts";
import { memorySessionJournal } from "../../../client/sessions/agent/memory-journal.ts";
import type { SpendLimits } from "../../../client/pay/spend-limits.ts";
import {
  type Asked,
  AGENT,
  countingSigner,
  fakeService,
  honestTransaction,
  MERCHANT,
  problem,
  TRUST,
} from "../support/fake-service.ts";
import { failureOf } from "../support/failure-of.ts";
import { testClock } from "../support/test-clock.ts";

const OTHER = localKey("another").address;
const PLAN = { merchant: MERCHANT, budget: "5.00", ttl: 3600 };

const agentAt = (service = fakeService(), spend?: SpendLimits) => {
  const { signer, signed } = countingSigner();
  const { clock } = testClock();
  const { fetch } = service;
  const client = connect("http://service.test", {
    trust: TRUST,
    fetch,
    clock,
    ...(spend === undefined ? {} : { spend }),
  });
  const journal = memorySessionJournal();
  return {
    journal,
    signed,
    client,
    signer,
    open: (more: object = {}) => client.session({ ...PLAN, signer, journal, ...more }),
  };
};

describe("opening a session", () => {
  const lies: ReadonlyArray<readonly [string, (asked: Asked) => Asked]> = [
    ["another session key", (asked) => ({ ...asked, session_key: OTHER })],
    ["a single payment", (asked) => ({ ...asked, session_key: undefined })],
    ["another amount", (asked) => ({ ...asked, amount_stroops: "5000001" })],
    ["another merchant", (asked) => ({ ...asked, merchant: OTHER })],
    ["another agent", (asked) => ({ ...asked, agent_owner: OTHER })],
    ["another end", (asked) => ({ ...asked, ttl_seconds: 604_800 })],
    ["another nonce", (asked) => ({ ...asked, nonce: "mine" })],
  ];
  test.each(lies)("a service that prepares %s gets no signature", async (_, lie) => {
    const { open, signed, journal } = agentAt(
      fakeService((asked) => honestTransaction(lie(asked))),
    );
    const { code } = await failureOf(open());
    expect([code, signed()]).toEqual(["prepared_otherwise", 0]);
    // The key was kept before anything was asked, and the same session is tried again.
    const { opening } = await journal.state();
    await failureOf(open());
    expect((await journal.state()).opening).toEqual(opening);
  });

  test("of one journal there is one escrow, however often opening fails", async () => {
    const service = fakeService();
    const asked: Array<string> = [];
    const { open, signed } = agentAt({
      ...service,
      fetch: async (url, init) => {
        if (url.includes("/v1/evidence/")) {
          asked.push(url);
          return problem(500, "broken");
        }
        return service.fetch(url, init);
      },
    });
    for (let i = 0; i < 3; i++) expect((await failureOf(open())).code).toBe("broken");
    expect([signed(), service.escrows.size, new Set(asked).size]).toEqual([1, 1, 1]);
  });

  test("a record on other terms at its address is refused, and nothing is signed", async () => {
    const service = fakeService();
    const { open, signed } = agentAt({
      ...service,
      fetch: async (url, init) =>
        url.includes("/v1/escrows/") && !url.includes("prepare")
          ? Response.json({
              data: {
                escrow_pda: url.split("/").at(-1),
                agent_owner: AGENT,
                merchant: MERCHANT,
                amount_stroops: "5000000",
                created_at: "2026-11-22T00:00:00Z",
                expires_at: "2026-11-22T01:00:00Z",
                session_key: OTHER,
              },
            })
          : service.fetch(url, init),
    });
    const { code, message } = await failureOf(open());
    expect([code, signed()]).toEqual(["another_payment", 0]);
    expect(message).toContain(`escrowed ${OTHER}`);
  });

  test("a journal of another session is refused with both sides", async () => {
    const { open, client, journal, signer } = agentAt(fakeService(() => new Uint8Array()));
    await failureOf(open());
    const { code, message } = await failureOf(open({ budget: "6.00" }));
    expect([code, message]).toEqual([
      "another_session",
      expect.stringContaining("budget asked 6000000, kept 5000000"),
    ]);
    expect((await failureOf(client.session({ signer, journal }))).code).toBe("prepared_otherwise");
    const other = { ...signer, address: OTHER };
    expect((await failureOf(client.session({ signer: other, journal }))).code).toBe(
      "another_session",
    );
  });

  test("limits of spending count the budget", async () => {
    const { open, signed } = agentAt(fakeService(), { maxPerEscrow: "4.99" });
    expect([(await failureOf(open())).code, signed()]).toEqual(["spend_refused", 0]);
  });

  test("wrong options are named before anything is kept", async () => {
    const { open, journal, client, signer } = agentAt();
    expect((await failureOf(open({ ttl: 599 }))).code).toBe("invalid_ttl");
    expect((await failureOf(open({ ttl: 604_801 }))).code).toBe("invalid_ttl");
    expect((await failureOf(open({ budget: "0" }))).code).toBe("invalid_amount");
    expect((await failureOf(open({ merchant: "x" }))).code).toBe("invalid_merchant");
    expect((await failureOf(client.session({ signer, journal }))).code).toBe("nothing_opened");
    expect((await journal.state()).opening).toBeNull();
  });
});

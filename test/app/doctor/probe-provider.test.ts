import { afterAll, beforeAll, expect, test } from "bun:test";
import { Effect, Redacted } from "effect";
import { checkMethods, askNodeAt } from "../../../app/doctor/check-methods.ts";
import { checkWebSocket } from "../../../app/doctor/check-web-socket.ts";
import { monthsBill, probeProvider } from "../../../app/doctor/probe-provider.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { startLedger } from "../../adapters/local-ledger/ledger-fixture.ts";

let ledger: ReturnType<typeof startLedger>;
beforeAll(() => {
  ledger = startLedger();
});
afterAll(() => ledger.stop());

type Request = { id: number; method: string; params: ReadonlyArray<Record<string, unknown>> };
type Answer = { result?: unknown; error?: unknown };

/** What is found at a node that stands before the ledger and changes requests or answers. */
const foundAt = async (
  change: (request: Request, forward: () => Promise<Answer>) => Promise<Answer | Response>,
) => {
  using proxy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (incoming) => {
      const request = (await incoming.json()) as Request;
      const forward = async () => {
        const answer = await fetch(ledger.url, { method: "POST", body: JSON.stringify(request) });
        return (await answer.json()) as Answer;
      };
      const answer = await change(request, forward);
      return answer instanceof Response
        ? answer
        : Response.json({ jsonrpc: "2.0", ...answer, id: request.id });
    },
  });
  const url = new URL(proxy.url);
  const findings = await Effect.runPromise(
    probeProvider(Redacted.make(url), url, LOCAL_DEPLOYMENT),
  );
  return Object.fromEntries(
    findings.map(({ check, ok, text }) => [
      check,
      `${ok ? "" : "!"}${text.replace(/^http\S+ /, "")}`,
    ]),
  );
};

test("an honest node passes each probe, and the service's methods and subscriptions", async () => {
  const found = await foundAt((_request, forward) => forward());
  expect(found["filters"]).toBe("a scan lists what its filters name");
  expect(found["limits"]).toBe("40 requests at once are all answered");
  expect(found["slots"]).toBe("in 12 readings slots never go back");
  expect(found["history"]).toMatch(/^from slot \d+ on, some \d+\.\d days; lists \d+ transactions/);
  const url = Redacted.make(new URL(ledger.url));
  expect(await Effect.runPromise(checkMethods(askNodeAt(url), LOCAL_DEPLOYMENT))).toBe(
    "12 called once",
  );
  const { custodyProgram, attestorProgram } = LOCAL_DEPLOYMENT;
  const socket = Redacted.make(new URL(ledger.webSocketUrl));
  expect(
    await Effect.runPromise(checkWebSocket(socket, [custodyProgram, attestorProgram])),
  ).toContain("takes the subscriptions and notifies");
});

test("a node that ignores filters, or hides an account, is a problem", async () => {
  const ignoring = await foundAt(async (request, forward) => {
    const answer = await forward();
    if (request.method !== "getProgramAccounts") return answer;
    return { result: [...(answer.result as ReadonlyArray<unknown>), { pubkey: "another" }] };
  });
  expect(ignoring["filters"]).toMatch(/^!a scan for one account lists 2: the node ignores/);
  const hiding = await foundAt((request, forward) =>
    request.method === "getProgramAccounts" ? Promise.resolve({ result: [] }) : forward(),
  );
  expect(hiding["filters"]).toStartWith("!a scan does not list the custody config");
});

test("a node that takes ten requests at once says so, and for how long it refuses others", async () => {
  let taken = 0;
  const found = await foundAt(({ method, params }, forward) => {
    const isBurst = method === "getEpochInfo" && params[0]?.["commitment"] === "confirmed";
    // The first one is not of the burst.
    if (!isBurst || taken++ <= 10) return forward();
    return Promise.resolve(new Response(null, { status: 429, headers: { "retry-after": "7" } }));
  });
  expect(found["limits"]).toBe(
    "of 40 requests at once 10 are answered, 30 refused as too many (Retry-After 7 s)",
  );
});

test("a node whose slots are not those of its state, or that ignores minContextSlot, is a problem", async () => {
  const fresh = await foundAt(async (request, forward) => {
    const answer = await forward();
    const read = answer.result as { context?: { slot: number } } | undefined;
    if (request.method === "getMultipleAccounts" && read?.context) read.context.slot += 9;
    return answer;
  });
  expect(fresh["slots"]).toContain("its state is up to 9 slots from the slot that it claims");
  const deaf = await foundAt((request, forward) => {
    delete request.params[1]?.["minContextSlot"];
    return forward();
  });
  expect(deaf["slots"]).toContain("answers for a minContextSlot that the ledger has not reached");
});

test("a node that does not tell where its history begins is told as such", async () => {
  const found = await foundAt((request, forward) =>
    request.method === "getFirstAvailableBlock"
      ? Promise.resolve({ error: { code: -32_601, message: "no" } })
      : forward(),
  );
  expect(found["history"]).toStartWith("the node does not tell where its history begins");
});

test("a month is counted by the service's own budget, with a price and without one", () => {
  const volume = { escrowsADay: 1000, usdPerMillionCalls: null };
  expect(monthsBill(volume)).toBe(
    "at 1,000 escrows a day at most 922,800 calls in thirty days (25 an escrow, 240 an hour at rest): give the provider's price with --usd-per-million-calls",
  );
  expect(monthsBill({ ...volume, usdPerMillionCalls: 10 })).toEndWith(
    ": 9.23 USD at 10 USD a million",
  );
});

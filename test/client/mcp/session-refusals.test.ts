import { describe, expect, test } from "bun:test";
import { localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { agentSessions } from "../../../client/mcp/agent-sessions.ts";
import type { ServiceCall } from "../../../client/mcp/ask.ts";
import { SESSION_TOOLS } from "../../../client/mcp/session-tools/all-session-tools.ts";
import type { ToolContext } from "../../../client/mcp/tool.ts";
import { relayTransaction } from "../../../client/mcp/tools/relay-transaction.ts";
import { policyIn } from "../../../client/pinned-policy.ts";
import { memorySessionJournal } from "../../../client/sessions/agent/memory-journal.ts";
import type { SessionJournal } from "../../../client/sessions/agent/session-journal.ts";
import { offerAnswer } from "../../../client/sessions/seller/offer.ts";
import { createEscrowInstruction } from "../../../core/protocol/instructions/custody-instructions.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { taskHash } from "../../../core/domain/escrow/task-hash.ts";
import {
  AGENT,
  type Asked,
  ATTESTOR,
  fakeService,
  honestTransaction,
  MERCHANT,
  MINT,
  TRUST,
} from "../support/fake-service.ts";
import { failureOf } from "../support/failure-of.ts";
import { testClock } from "../support/test-clock.ts";
import { signed } from "./mcp-service.ts";
import { toolContext } from "./tool-context.ts";

const ORIGIN = "https://api.example.com";
const OTHER = localKey("another").address;
const policy = policyIn(TRUST);
const PLAN = { agent: AGENT, url: `${ORIGIN}/quotes`, budget: "5000000", ttl_seconds: 3600 };

/** A journal that stays when its process gives it back. */
const keptJournals = () => {
  const journals = new Map<string, SessionJournal>();
  const folder = {
    names: () => Promise.resolve([...journals.keys()]),
    take: (name: string) => {
      const journal = journals.get(name) ?? memorySessionJournal();
      journals.set(name, journal);
      return Promise.resolve(journal);
    },
  };
  return { journals, folder };
};

const offered = (more: object = {}, price = 10_000n): Response =>
  offerAnswer({
    taken: { merchant: MERCHANT, mint: MINT, attestor: ATTESTOR, ...more },
    policy,
    url: PLAN.url,
    price,
  });

/** The tools of a process at a seller that answers everything with `answer`, and a service that may lie. */
const deskAt = (
  answer: () => Response = offered,
  prepare: (asked: Asked) => Uint8Array = honestTransaction,
) => {
  const service = fakeService(prepare);
  const { journals, folder } = keptJournals();
  const { clock } = testClock();
  const sessions = agentSessions({
    service: "http://service.test",
    trust: TRUST,
    folder,
    clock,
    fetch: (url, init) =>
      url.startsWith("http://service.test") ? service.fetch(url, init) : Promise.resolve(answer()),
  });
  const call: ServiceCall = () => Promise.reject(new Error("no tool of sessions asks so"));
  const context = (parts: Partial<ToolContext> = {}) =>
    toolContext(call, { trust: policy, sessions, canAsk: true, ...parts });
  const run = (name: string, args: object, parts: Partial<ToolContext> = {}) => {
    const tool = SESSION_TOOLS.find((each) => each.name === name);
    if (tool === undefined) throw new Error(`no tool ${name}`);
    return tool.run(args, context(parts));
  };
  const agreed = { consentTo: (): "given" => "given" };
  return { sessions, service, journals, run, agreed, context };
};

/** The question that a tool asks first. */
const questionOf = async (asking: Promise<object>) => {
  const { question } = (await asking) as {
    readonly question: { readonly subject: string; readonly message: string };
  };
  return question;
};

const resultOf = async (answering: Promise<object>) =>
  ((await answering) as { readonly result: Readonly<Record<string, unknown>> }).result;

describe("without the person's agreement there is no key and no transaction", () => {
  test.each([
    ["refused", { consentTo: (): "refused" => "refused" }, "not_confirmed"],
    ["not to be asked", { canAsk: false }, "cannot_ask"],
  ] as const)("%s", async (_, parts, code) => {
    const { run, journals, service } = deskAt();
    expect((await failureOf(run("open_session", PLAN, parts))).code).toBe(code);
    expect([journals.size, service.seen]).toEqual([0, []]);
  });

  test("an agreement is to these terms alone", async () => {
    const { run, journals } = deskAt();
    const { subject } = await questionOf(run("open_session", PLAN));
    const parts = { consentTo: (asked: string) => (asked === subject ? "given" : null) } as const;
    for (const more of [
      { budget: "5000001" },
      { ttl_seconds: 3601 },
      { url: "https://other.example/quotes" },
      { agent: OTHER },
    ]) {
      const other = await questionOf(run("open_session", { ...PLAN, ...more }, parts));
      expect(other.subject).not.toBe(subject);
    }
    expect(journals.size).toBe(0);
  });
});

describe("an offer that the caller's terms exclude opens nothing", () => {
  test.each<[string, string, () => Response, object]>([
    ["none", "no_offer", () => new Response("free"), {}],
    ["one of no form", "no_offer", () => new Response("", { status: 402 }), {}],
    ["a mint that nobody listed", "no_offer", () => offered({ mint: OTHER }), {}],
    ["a price above the budget", "offer_refused", () => offered({}, 5_000_001n), {}],
    ["another merchant", "another_merchant", offered, { merchant: OTHER }],
    [
      "a redirect",
      "redirected",
      () => new Response(null, { status: 302, headers: { location: "http://10.0.0.1/" } }),
      {},
    ],
  ])("%s", async (_, code, answer, more) => {
    const { run, journals, agreed } = deskAt(answer);
    const failure = await failureOf(run("open_session", { ...PLAN, ...more }, agreed));
    expect([failure.code, journals.size]).toEqual([code, 0]);
  });
});

test("what a hostile service prepares is not shown, and the session stays to be signed", async () => {
  const { run, agreed, journals } = deskAt(offered, (asked) =>
    honestTransaction({ ...asked, session_key: OTHER }),
  );
  for (let i = 0; i < 2; i++)
    expect((await failureOf(run("open_session", PLAN, agreed))).code).toBe("prepared_otherwise");
  expect(journals.size).toBe(1);
});

describe("a session that was agreed to", () => {
  test("is not asked about again on the same terms, and is on others", async () => {
    const { run, agreed, journals } = deskAt();
    const first = await resultOf(run("open_session", PLAN, agreed));
    expect(first).toMatchObject({ state: "unsigned", signers: [AGENT], origin: ORIGIN });
    const nobody = { canAsk: false };
    const again = await resultOf(run("open_session", PLAN, nobody));
    expect([again["session"], journals.size]).toEqual([first["session"], 1]);
    const other = await failureOf(run("open_session", { ...PLAN, budget: "6000000" }, nobody));
    expect(other.code).toBe("cannot_ask");
    const { sessions } = await resultOf(run("find_sessions", {}));
    expect(sessions).toMatchObject([{ session: first["session"], state: "unsigned", calls: 0 }]);
  });

  test("pays nothing before its budget is locked", async () => {
    const { run, agreed } = deskAt();
    const { session } = await resultOf(run("open_session", PLAN, agreed));
    const failure = await failureOf(run("paid_fetch", { session, url: PLAN.url, limit: "1" }));
    expect(failure.code).toBe("session_unsigned");
  });

  test("its own transaction is relayed without a second question, and any other with one", async () => {
    const { run, agreed, sessions, context, journals } = deskAt();
    const { transaction } = await resultOf(run("open_session", PLAN, agreed));
    const own = signed(transaction as string, [AGENT]);
    expect(await sessions.isAgreed(own)).toBe(true);
    const opening = (await [...journals.values()][0]?.state())?.opening;
    if (!opening) throw new Error("no opening");
    const asked: Asked = {
      agent_owner: AGENT,
      merchant: MERCHANT,
      mint: MINT,
      amount_stroops: opening.budget,
      ttl_seconds: opening.ttl,
      task_intent: opening.task,
      nonce: opening.nonce,
      session_key: OTHER,
    };
    const again = createEscrowInstruction(LOCAL_DEPLOYMENT, {
      payer: AGENT,
      agentOwner: AGENT,
      merchant: MERCHANT,
      mint: MINT,
      taskHash: taskHash("another", "escrow"),
      attestor: ATTESTOR,
      sessionKey: undefined,
      amount: 1n,
      ttlSeconds: 60,
    });
    const others = [
      honestTransaction(asked),
      honestTransaction({ ...asked, session_key: undefined }),
      honestTransaction({ ...asked, amount_stroops: "5000001" }),
      honestTransaction({ ...asked, nonce: "another" }),
      honestTransaction(asked, [again]),
    ];
    for (const bytes of others) {
      const other = signed(encodeBase64(bytes), [AGENT]);
      expect(await sessions.isAgreed(other)).toBe(false);
      const answer = await relayTransaction.run({ signed_transaction: other }, context());
      expect(answer).toHaveProperty("question");
    }
    for (const junk of ["!", "", "AAAA", "A".repeat(4000)])
      expect(await sessions.isAgreed(junk)).toBe(false);
  });
});

describe("wrong arguments are told in a line", () => {
  const SESSION = OTHER;
  test.each<[string, object, RegExp]>([
    ["open_session", {}, /^agent is required; url is required/],
    ["open_session", { ...PLAN, url: "file:///etc/passwd" }, /^url must be an http or https URL/],
    ["open_session", { ...PLAN, url: "https://a:b@api.example.com" }, /^url must be/],
    ["open_session", { ...PLAN, budget: "5.00" }, /^budget must be base units/],
    ["open_session", { ...PLAN, ttl_seconds: 599 }, /^ttl_seconds must be an integer from 600/],
    ["open_session", { ...PLAN, session_key: "x" }, /^session_key is not known/],
    ["paid_fetch", { session: "../x", url: PLAN.url, limit: "1" }, /^session must be an address/],
    ["paid_fetch", { session: SESSION, url: "quotes", limit: "1" }, /^url must be/],
    ["paid_fetch", { session: SESSION, url: PLAN.url, limit: "0" }, /^limit must be base units/],
    ["paid_fetch", { session: SESSION, url: PLAN.url, limit: "1" }, /^No such session is kept/],
    ["paid_fetch", { session: SESSION, url: PLAN.url, limit: "1", method: "HEAD" }, /^method must/],
    ["find_sessions", { all: true }, /^all is not known/],
    ["close_session", { session: SESSION }, /^No such session is kept/],
    ["read_call_evidence", { session: SESSION, count: 0 }, /^count must be an integer from 1/],
    ["read_call_evidence", { session: SESSION, count: 1 }, /^No such session is kept/],
  ])("%s %j", async (name, args, told) => {
    const { run, journals, agreed } = deskAt();
    const { code, message } = await failureOf(run(name, args, agreed));
    expect(message).toMatch(told);
    expect(code).toMatch(/^(validation_failed|session_not_found)$/);
    expect(journals.size).toBe(0);
  });
});

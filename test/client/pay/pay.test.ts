import { describe, expect, test } from "bun:test";
import { localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { connect } from "../../../client/connect.ts";
import type { Fetch } from "../../../client/service/fetch-directly.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { createEscrowInstruction } from "../../../core/protocol/instructions/custody-instructions.ts";
import { unsignedTransaction } from "../../../core/protocol/transaction/unsigned-transaction.ts";
import { taskHash } from "../../../core/domain/escrow/task-hash.ts";
import { seededRandom } from "../../arbitraries/seeded-random.ts";
import {
  type Asked,
  ATTESTOR,
  BLOCKHASH,
  countingSigner,
  fakeService,
  honestTransaction,
  PAYMENT,
  problem,
  TRUST,
} from "../support/fake-service.ts";
import { failureOf } from "../support/failure-of.ts";
import { testClock } from "../support/test-clock.ts";

const URL = "http://service.test";

/** A client of a fake service, each request of which may be met otherwise. */
const clientOf = (
  service: ReturnType<typeof fakeService>,
  meet: (pass: () => Promise<Response>, at: number, path: string) => Promise<Response> = (pass) =>
    pass(),
) => {
  let asked = 0;
  const time = testClock();
  const fetch: Fetch = (url, init) => meet(() => service.fetch(url, init), asked++, url);
  const { signer, signed } = countingSigner();
  const random = seededRandom(1);
  const client = connect(URL, { trust: TRUST, fetch, clock: time.clock, random });
  return {
    time,
    signed,
    client,
    signer,
    asked: () => asked,
    pay: (more: object = {}) => client.pay({ ...PAYMENT, signer, ...more }),
  };
};

describe("paying", () => {
  test("a payment is signed once, and run again it is found", async () => {
    const service = fakeService();
    const { pay, signed } = clientOf(service);
    const first = await pay();
    expect(first).toMatchObject({ nonce: "order-1", amount: "1500000" });
    expect(first.signature).not.toBeNull();
    expect(await pay()).toEqual({ ...first, signature: null });
    expect(signed()).toBe(1);
    expect(service.escrows.size).toBe(1);
  });

  test("a payment without a nonce is another one each time, and its escrow is not looked for before", async () => {
    const service = fakeService();
    const paths: Array<string> = [];
    const { pay } = clientOf(service, (pass, _at, path) => {
      paths.push(path);
      return pass();
    });
    const nonces = [await pay({ nonce: undefined }), await pay({ nonce: undefined })].map(
      ({ nonce }) => nonce,
    );
    expect(new Set(nonces).size).toBe(2);
    expect(service.escrows.size).toBe(2);
    expect(paths.filter((path) => /\/v1\/escrows\/\w{32,}/.test(path))).toEqual([]);
  });

  test("other terms under the same nonce are refused, with both sides", async () => {
    const service = fakeService();
    const { pay } = clientOf(service);
    await pay();
    const others = {
      merchant: localKey("merchant/prices").address,
      amount: "1.51",
      ttl: 3601,
      attestor: localKey("attestor/prices").address,
    };
    for (const [name, value] of Object.entries(others)) {
      const { code, message } = await failureOf(pay({ [name]: value }));
      expect(code).toBe("another_payment");
      expect(message).toContain(name === "amount" ? "asked 1510000" : `asked ${value}`);
    }
  });

  test("the end itself is paid for in place of a time to live, and compared when it is found again", async () => {
    const { ttl: _, ...payment } = PAYMENT;
    const service = fakeService();
    const { client, signer } = clientOf(service);
    const until = (expiresAt: string, more: object = {}) =>
      client.pay({ ...payment, signer, expiresAt, ...more });
    const paid = await until("2026-11-25T12:00:00Z");
    expect(await until("2026-11-25T12:00:00Z")).toEqual({ ...paid, signature: null });
    const { code, message } = await failureOf(until("2026-11-25T12:00:01Z"));
    expect([code, message]).toEqual([
      "another_payment",
      expect.stringContaining(
        "expires_at asked 2026-11-25T12:00:01Z, escrowed 2026-11-25T12:00:00Z",
      ),
    ]);
    for (const wrong of ["tomorrow", "2026-11-25", "2026-02-30T00:00:00Z"])
      expect((await failureOf(until(wrong))).code).toBe("invalid_expires_at");
    expect((await failureOf(until("2026-11-25T12:00:00Z", { ttl: 0 }))).code).toBe("invalid_ttl");
    const { ttl: __, ...without } = PAYMENT;
    expect((await failureOf(client.pay({ ...without, signer }))).code).toBe("invalid_ttl");
  });

  test("a service that prepares another end, or a session, gets no signature", async () => {
    const others = [
      (asked: Asked) => honestTransaction({ ...asked, expires_at: "2026-11-25T12:00:00Z" }),
      (asked: Asked) =>
        unsignedTransaction({
          payer: asked.agent_owner,
          blockhash: BLOCKHASH,
          instructions: [
            createEscrowInstruction(LOCAL_DEPLOYMENT, {
              payer: asked.agent_owner,
              agentOwner: asked.agent_owner,
              merchant: asked.merchant,
              mint: asked.mint,
              taskHash: taskHash(asked.task_intent, asked.nonce),
              attestor: ATTESTOR,
              sessionKey: ATTESTOR,
              amount: BigInt(asked.amount_stroops),
              ttlSeconds: asked.ttl_seconds,
            }),
          ],
        }).bytes,
    ];
    for (const prepare of others) {
      const { pay, signed } = clientOf(fakeService(prepare));
      expect([(await failureOf(pay())).code, signed()]).toEqual(["prepared_otherwise", 0]);
    }
  });

  test("what the service shows at the address must be this agent's escrow for this task", async () => {
    const service = fakeService();
    const { pay } = clientOf(service);
    const { escrow } = await pay();
    const shown = service.escrows.get(escrow) ?? {};
    for (const [name, value] of [
      ["escrow_pda", ATTESTOR],
      ["agent_owner", ATTESTOR],
      ["task_hash", "0".repeat(64)],
      ["session_key", ATTESTOR],
    ] as const) {
      service.escrows.set(escrow, { ...shown, [name]: value });
      expect((await failureOf(pay())).code).toBe("another_payment");
    }
  });

  describe("an archived escrow", () => {
    const archived = {
      state: "Refunded",
      created_seq: "7",
      settled_seq: "9",
      digest: "a".repeat(64),
      pending_digest: "b".repeat(64),
    };
    const gone = (more: object) =>
      Promise.resolve(Response.json({ code: "archived_unseen", ...more }, { status: 410 }));

    test("whose bytes the service has is compared as any other", async () => {
      const service = fakeService();
      const { pay, signed } = clientOf(service);
      const { escrow } = await pay();
      service.escrows.set(escrow, { ...service.escrows.get(escrow), archived });
      expect(await pay()).toMatchObject({ signature: null, escrow });
      expect((await failureOf(pay({ amount: "1.51" }))).code).toBe("another_payment");
      expect(signed()).toBe(1);
    });

    test("whose bytes nobody has is paid, on terms that are unproven", async () => {
      const { pay, signed } = clientOf(fakeService(), () => gone({ archived }));
      expect(await pay()).toMatchObject({ signature: null, terms: "unproven" });
      expect(signed()).toBe(0);
    });

    test("is not believed of an answer without the ledger's tombstone", async () => {
      const wrong = [
        {},
        { archived: null },
        { archived: { ...archived, state: "Pending" } },
        { archived: { ...archived, pending_digest: "b" } },
        { archived: { ...archived, settled_seq: "7" } },
        { archived, code: "gone" },
      ];
      for (const more of wrong) {
        const { pay, signed } = clientOf(fakeService(), () => gone(more));
        expect(await failureOf(pay())).toMatchObject({ status: 410 });
        expect(signed()).toBe(0);
      }
    });
  });

  test("a limit refuses before anything is asked to be prepared, and nothing is signed", async () => {
    const service = fakeService();
    const { signer, signed } = countingSigner();
    const client = connect(URL, {
      trust: TRUST,
      fetch: service.fetch,
      spend: { maxPerEscrow: "1" },
    });
    expect((await failureOf(client.pay({ ...PAYMENT, signer }))).code).toBe("spend_refused");
    expect(signed()).toBe(0);
    expect(service.seen.filter((each) => each.startsWith("POST"))).toEqual([]);
  });

  const WRONG = [
    ["ttl", { ttl: 0 }],
    ["ttl", { ttl: 604_801 }],
    ["ttl", { ttl: 1.5 }],
    ["merchant", { merchant: "nobody" }],
    ["amount", { amount: "1.5000001" }],
    ["mint", { mint: ATTESTOR }],
    ["task", { task: "" }],
    ["nonce", { nonce: "" }],
    ["attestor", { attestor: "0" }],
  ] as const;
  for (const [what, wrong] of WRONG)
    test(`${JSON.stringify(wrong)} is refused before anything is asked`, async () => {
      const service = fakeService();
      expect((await failureOf(clientOf(service).pay(wrong))).code).toBe(`invalid_${what}`);
      expect(service.seen).toEqual([]);
    });
});

describe("whatever is lost, cut, refused or aborted, one escrow is made", () => {
  const broken = (): Promise<Response> => Promise.reject(new TypeError("broken connection"));
  const FAULTS: Record<string, (pass: () => Promise<Response>) => Promise<Response>> = {
    "the request is lost": broken,
    "the answer is lost": (pass) => pass().then(broken),
    "the answer is cut": (pass) =>
      pass().then(async (answer) => new Response((await answer.text()).slice(0, -3), answer)),
    "the request comes twice": (pass) => pass().then(pass),
    "an empty 200": () => Promise.resolve(new Response("")),
    "503": () => Promise.resolve(problem(503, "overloaded")),
    "429": () => Promise.resolve(problem(429, "rate_limited", { "retry-after": "3" })),
    "the bytes are in flight": (pass) =>
      pass().then(() => problem(409, "idempotency_key_in_flight")),
    "the bytes are in flight, and nothing is there yet": () =>
      Promise.resolve(problem(409, "idempotency_key_in_flight")),
    "the relay's blockhash has expired": () => Promise.resolve(problem(409, "blockhash_expired")),
  };
  for (const [name, fault] of Object.entries(FAULTS))
    for (let at = 0; at < 4; at++)
      test(`${name}, at request ${at}`, async () => {
        const service = fakeService();
        const isRelay = (path: string) => path.endsWith("/v1/relay");
        const onlyRelay = /bytes are in flight|^the relay's/.test(name);
        const { pay } = clientOf(service, (pass, number, path) =>
          number === at && (!onlyRelay || isRelay(path)) ? fault(pass) : pass(),
        );
        const { escrow } = await pay();
        expect([...service.escrows.keys()]).toEqual([escrow]);
      });

  test("aborted at any moment it ends with the reason; run again it pays once", async () => {
    for (const when of ["before", "after"] as const)
      for (let at = 0; at < 4; at++) {
        const service = fakeService();
        const stop = new AbortController();
        const { pay } = clientOf(service, async (pass, number) => {
          if (number !== at) return pass();
          const answer = when === "after" ? await pass() : null;
          stop.abort(new Error("enough"));
          return answer ?? pass();
        });
        const first = await pay({ signal: stop.signal }).catch((cause: unknown) => cause);
        // After the last answer there is nothing left to stop.
        if (at < 3 || when === "before") expect(first).toHaveProperty("message", "enough");
        const { escrow } = await pay();
        expect([...service.escrows.keys()]).toEqual([escrow]);
      }
  });

  test("Retry-After is followed, seconds or a date, up to a minute", async () => {
    for (const [text, ms] of [
      ["7", 7000],
      ["0", 0],
      ["100000", 60_000],
      [new Date(1_800_000_009_000).toUTCString(), 9000],
      [new Date(1_700_000_000_000).toUTCString(), 0],
    ] as const) {
      const { pay, time } = clientOf(fakeService(), (pass, at) =>
        at === 0 ? Promise.resolve(problem(429, "rate_limited", { "retry-after": text })) : pass(),
      );
      await pay();
      expect(time.pauses).toEqual([ms]);
    }
  });

  test("a service that is not there is given up after six tries, with growing pauses", async () => {
    const hanging = clientOf(fakeService(), broken);
    expect((await failureOf(hanging.pay())).code).toBe("service_unreachable");
    expect(hanging.asked()).toBe(6);
    expect(hanging.time.pauses).toHaveLength(5);
    const random = seededRandom(1);
    expect(hanging.time.pauses).toEqual(
      [200, 400, 800, 1600, 3200].map((ms) => ms * (0.5 + random() / 2)),
    );
  });

  test("a problem is reported with its code, detail, cure and status", async () => {
    const { pay } = clientOf(fakeService(), (pass, at) =>
      at === 1 ? Promise.resolve(problem(422, "validation_failed")) : pass(),
    );
    expect(await failureOf(pay())).toMatchObject({
      code: "validation_failed",
      message: "It is validation_failed.",
      cure: "Do otherwise.",
      status: 422,
    });
  });
});

import { describe, expect, test } from "bun:test";
import { captures } from "../../../client/sessions/seller/captures.ts";
import { marginOf } from "../../../client/sessions/seller/take-session.ts";
import { memorySessions, SharedSessions } from "../../../client/sessions/store/memory-sessions.ts";
import { policyIn } from "../../../client/pinned-policy.ts";
import { SettlementError } from "../../../client/settlement-error.ts";
import type { Address } from "../../../core/domain/address.ts";
import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
import {
  attest,
  ATTESTOR_SIGNER,
  ESCROW,
  honestCalls,
  KEPT,
  vouch,
} from "../../doubles/session-sides.ts";
import { TRUST } from "../support/fake-service.ts";

const CALLS = honestCalls(Array.from({ length: 4 }, () => ({ limit: 100_000n, price: 100_000n })));
const { address, createdAt, expiresAt } = ESCROW;

/** A seller after some calls of 0.10, whose service prepares nothing and notes what it is asked. */
const world = async (calls: number, { released = 0n, worth = 1n, closed = false } = {}) => {
  const store = memorySessions(new SharedSessions());
  await store.open(KEPT);
  const asked: Array<string> = [];
  const finals: Array<bigint> = [];
  const problems: Array<string> = [];
  let nowMs = 0;
  let escrow: Escrow = { ...ESCROW, released };
  let ledgerTime = createdAt;
  for (const { voucher, receipt } of CALLS.slice(0, calls)) {
    await store.reserve(address, voucher.count);
    await store.append({ voucher, receipt, intent: "GET", status: 200 }, null);
  }
  const tally = CALLS[calls - 1]?.after;
  const final = (timestamp: bigint) => {
    if (tally === undefined) throw new Error("no call");
    const { deliveries, total, count } = tally;
    return attest({ deliveries, total, count, timestamp, isFinal: true });
  };
  if (closed && tally !== undefined) {
    const { orders, total, count } = tally;
    const nonce = new Uint8Array(16);
    await store.close(vouch({ orders, total, count, isClosing: true, limit: 0n, nonce }));
    await store.finish(address, final(createdAt));
  }
  const look = (escrows: ReadonlyArray<Address>) =>
    Promise.resolve(new Map(escrows.map((each) => [each, escrow])));
  const settling = captures({
    requests: {
      answer: (path) => {
        asked.push(path.split("/").slice(-2).join("/").replace("?transaction=true", ""));
        return Promise.reject(new SettlementError("service_unreachable", "Down.", "Wait."));
      },
      stream: () => Promise.reject(new Error("no stream")),
      clock: { nowMs: () => nowMs, pause: () => Promise.resolve() },
    },
    policy: policyIn(TRUST),
    payer: ATTESTOR_SIGNER,
    store,
    view: { look, refresh: look, nowMs: () => Number(ledgerTime) * 1000 },
    clock: { nowMs: () => nowMs, pause: () => Promise.resolve() },
    attestFinal: () => {
      finals.push(ledgerTime);
      return Promise.resolve(final(ledgerTime));
    },
    worth,
    onProblem: ({ code }) => problems.push(code),
  });
  return {
    settling,
    store,
    asked,
    finals,
    problems,
    pass: (ms: number) => {
      nowMs += ms;
    },
    ledger: (time: bigint, changes: Partial<Escrow> = {}) => {
      ledgerTime = time;
      escrow = { ...escrow, ...changes };
    },
  };
};

describe("a session is captured", () => {
  test("at a third of its budget, and not before", async () => {
    const three = await world(3);
    await three.settling.round();
    expect(three.asked).toEqual([]);
    const four = await world(4);
    await four.settling.round();
    expect([four.asked, four.problems]).toEqual([["capture/prepare"], ["service_unreachable"]]);
  });

  test("not before what is owed is worth it", async () => {
    const { settling, asked } = await world(4, { worth: 400_001n });
    await settling.round();
    expect(asked).toEqual([]);
  });

  test("by what is owed beyond the captures before", async () => {
    const { settling, asked } = await world(4, { released: 100_000n });
    await settling.round();
    expect(asked).toEqual([]);
  });

  test("after 15 minutes", async () => {
    const { settling, asked, pass } = await world(1);
    await settling.round();
    pass(899_999);
    await settling.round();
    expect(asked).toEqual([]);
    pass(1);
    await settling.round();
    expect(asked).toEqual(["capture/prepare"]);
  });

  test("as soon as its agent closes it on the ledger", async () => {
    const { settling, asked, ledger } = await world(1);
    ledger(createdAt, { closesAt: createdAt + 900n });
    await settling.round();
    expect(asked).toEqual(["capture/prepare"]);
  });

  test("before its margin, and not once it has ended", async () => {
    const { settling, asked, ledger } = await world(1);
    const before = expiresAt - marginOf(ESCROW) - 30n;
    ledger(before - 1n);
    await settling.round();
    expect(asked).toEqual([]);
    ledger(before);
    await settling.round();
    expect(asked).toEqual(["capture/prepare"]);
    ledger(expiresAt);
    await settling.round();
    expect(asked).toHaveLength(1);
  });

  test("when it is asked for, which tells what failed; with nothing owed nothing is sent", async () => {
    const { settling, asked } = await world(1);
    expect(await settling.captureAll().catch(({ code }: SettlementError) => code)).toBe(
      "service_unreachable",
    );
    expect(asked).toEqual(["capture/prepare"]);
    const none = await world(1, { released: 100_000n });
    await none.settling.captureAll();
    expect(none.asked).toEqual([]);
  });

  test("after each call in the background, and not soon again after a failure", async () => {
    const { settling, asked, problems, pass } = await world(4);
    for (let i = 0; i < 3; i++) settling.called(KEPT, 400_000n);
    await settling.round();
    expect(problems).toContain("service_unreachable");
    const before = asked.length;
    settling.called(KEPT, 400_000n);
    pass(9_999);
    settling.called(KEPT, 400_000n);
    expect(asked).toHaveLength(before);
  });
});

describe("a session that was closed by a voucher", () => {
  test("is released, with a final attestation that is made anew once it is old", async () => {
    const { settling, asked, finals, store, ledger } = await world(1, { closed: true });
    ledger(createdAt + 239n);
    await settling.round();
    expect([asked, finals]).toEqual([["release/prepare"], []]);
    ledger(createdAt + 240n);
    await settling.round();
    expect(asked).toEqual(["release/prepare", "release/prepare"]);
    expect(finals).toEqual([createdAt + 240n]);
    expect((await store.find(address))?.final?.timestamp).toBe(createdAt + 240n);
  });

  test("of a restored store is released by what is kept, and captured once that is old: nothing is signed", async () => {
    const { settling, asked, finals, store, ledger } = await world(1, { closed: true });
    await store.distrust(createdAt + 1n);
    ledger(createdAt + 239n);
    await settling.round();
    ledger(createdAt + 240n);
    await settling.round();
    expect([asked, finals]).toEqual([["release/prepare", "capture/prepare"], []]);
  });

  test("is captured when its release fails near the end", async () => {
    const { settling, asked, ledger } = await world(1, { closed: true });
    ledger(expiresAt - marginOf(ESCROW));
    await settling.round();
    expect(asked).toEqual(["release/prepare", "capture/prepare"]);
  });

  test("is ended once the ledger shows it settled", async () => {
    const { settling, asked, store, ledger } = await world(1, { closed: true });
    ledger(createdAt, { state: "PartiallyFulfilled" });
    await settling.round();
    expect([asked, await store.unfinished()]).toEqual([[], []]);
  });
});

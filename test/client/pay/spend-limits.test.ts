import { expect, test } from "bun:test";
import fc from "fast-check";
import { connect } from "../../../client/connect.ts";
import { paymentTerms, type Payment } from "../../../client/pay/payment-terms.ts";
import {
  memoryJournal,
  spendGuard,
  type SpendEntry,
  type SpendLimits,
} from "../../../client/pay/spend-limits.ts";
import { buyerScheme } from "../../../client/x402/buyer/buyer-scheme.ts";
import { parseTrustPolicy } from "../../../core/protocol/evidence/trust-policy.ts";
import { localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { runs } from "../../arbitraries/runs.ts";
import { AGENT, countingSigner, MERCHANT, PAYMENT, TRUST } from "../support/fake-service.ts";
import { failureOf } from "../support/failure-of.ts";

const DAY_MS = 86_400_000;
const parsed = parseTrustPolicy(JSON.stringify(TRUST));
if (!("value" in parsed)) throw new Error(parsed.fault);
const policy = parsed.value;
const termsOf = (more: Partial<Payment>) => paymentTerms({ ...PAYMENT, ...more }, AGENT, policy);

/** A guard at a clock that the test moves, and whether it allows a payment. */
const guardOf = (limits: SpendLimits) => {
  let now = 1_800_000_000_000;
  const guard = spendGuard(limits, () => now);
  return {
    pass: (ms: number) => {
      now += ms;
    },
    allows: (more: Partial<Payment>) =>
      guard(termsOf(more)).then(
        () => true,
        (cause: { readonly code: string }) => {
          expect(cause.code).toBe("spend_refused");
          return false;
        },
      ),
  };
};

test("a payment of the limit is allowed, one unit more is refused", async () => {
  const { allows } = guardOf({ maxPerEscrow: "2" });
  expect(await allows({ amount: "2" })).toBe(true);
  expect(await allows({ amount: "2.000001" })).toBe(false);
});

test("only the named merchants are paid", async () => {
  const { allows } = guardOf({ merchants: [MERCHANT] });
  expect(await allows({})).toBe(true);
  expect(await allows({ merchant: localKey("merchant/prices").address })).toBe(false);
  expect(await guardOf({ merchants: [] }).allows({})).toBe(false);
});

test("the day rolls: what was allowed 24 hours ago counts no more, a millisecond before it does", async () => {
  const { allows, pass } = guardOf({ maxPerDay: "2", journal: memoryJournal() });
  expect(await allows({ amount: "2", nonce: "a" })).toBe(true);
  pass(DAY_MS - 1);
  expect(await allows({ amount: "0.000001", nonce: "b" })).toBe(false);
  pass(1);
  expect(await allows({ amount: "2", nonce: "c" })).toBe(true);
});

test("the same payment run again counts once", async () => {
  const { allows } = guardOf({ maxPerDay: "2", journal: memoryJournal() });
  for (let run = 0; run < 3; run++) expect(await allows({ amount: "2" })).toBe(true);
});

test("the same nonce with a greater amount is judged by the greater", async () => {
  const { allows } = guardOf({ maxPerDay: "2", journal: memoryJournal() });
  expect(await allows({ amount: "1" })).toBe(true);
  expect(await allows({ amount: "100" })).toBe(false);
  expect(await allows({ amount: "2" })).toBe(true);
  expect(await allows({ amount: "0.5", nonce: "another" })).toBe(false);
});

test("a payment allowed on an earlier day counts on the day when it is run again", async () => {
  const { allows, pass } = guardOf({ maxPerDay: "2", journal: memoryJournal() });
  expect(await allows({ amount: "2", nonce: "a" })).toBe(true);
  pass(DAY_MS);
  expect(await allows({ amount: "2", nonce: "a" })).toBe(true);
  expect(await allows({ amount: "1", nonce: "b" })).toBe(false);
});

test("a payment that is signed again late in its day counts from then on: a service that held it back lands it beside the next day's", async () => {
  const { allows, pass } = guardOf({ maxPerDay: "2", journal: memoryJournal() });
  expect(await allows({ amount: "2", nonce: "held back" })).toBe(true);
  pass(DAY_MS - 1000);
  expect(await allows({ amount: "2", nonce: "held back" })).toBe(true);
  pass(1000);
  expect(await allows({ amount: "0.000001", nonce: "next day" })).toBe(false);
  pass(DAY_MS - 1000);
  expect(await allows({ amount: "2", nonce: "next day" })).toBe(true);
});

test("a payment that is tried again at once is kept once", async () => {
  const journal = memoryJournal();
  const { allows, pass } = guardOf({ maxPerDay: "2", journal });
  for (let tried = 0; tried < 5; tried++) {
    expect(await allows({ amount: "2" })).toBe(true);
    pass(10_000);
  }
  expect(await journal.entries()).toHaveLength(1);
});

test("payments at the same time, of processes that share a journal too, never exceed the day together, however slow the journal is", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 1, max: 30 }),
      fc.scheduler(),
      async (amounts, limit, scheduler) => {
        const journal = memoryJournal();
        const slow = {
          entries: () => scheduler.schedule(journal.entries()),
          add: (entry: SpendEntry) =>
            scheduler.schedule(Promise.resolve()).then(() => journal.add(entry)),
        };
        const guards = [1, 2, 3].map(() => guardOf({ maxPerDay: `${limit}`, journal: slow }));
        const answers = Promise.all(
          amounts.map((amount, at) => {
            const guard = guards[at % 3] ?? guardOf({});
            return guard.allows({ amount: `${amount}`, nonce: `n${at}` });
          }),
        );
        const answered = await scheduler.waitFor(answers);
        const sum = amounts.reduce((sum, units, at) => sum + (answered[at] ? units : 0), 0);
        expect(sum).toBeLessThanOrEqual(limit);
      },
    ),
    runs(50),
  );
});

test("a limit of a day needs a journal: connect and buyerScheme refuse it, whatever the types say, and name the cure", () => {
  const { signer } = countingSigner();
  // @ts-expect-error a limit of a day goes with a journal
  const spend: SpendLimits = { maxPerDay: "2" };
  for (const begin of [
    () => connect("http://service.test", { trust: TRUST, spend }),
    () => buyerScheme("http://service.test", { trust: TRUST, spend, signer }),
  ])
    expect(begin).toThrow(
      expect.objectContaining({
        code: "invalid_spend",
        message: expect.stringContaining("journal"),
        cure: expect.stringContaining('fileJournal("payments.jsonl")'),
      }),
    );
});

test("a limit that is no amount refuses every payment", async () => {
  const guard = spendGuard({ maxPerEscrow: "a lot" });
  expect(await failureOf(guard(termsOf({})))).toMatchObject({ code: "invalid_amount" });
});

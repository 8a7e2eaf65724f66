import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { address } from "../../../../core/domain/address.ts";
import { merchantStats } from "../../../../core/domain/merchant/merchant-stats.ts";
import { anyEscrow } from "../../../arbitraries/escrow.ts";
import { runs } from "../../../arbitraries/runs.ts";

const escrows = fc.array(
  anyEscrow({
    custodyProgram: address("Custody111111111111111111111111111111111111"),
    attestorProgram: address("Attestor11111111111111111111111111111111111"),
  }),
  { maxLength: 12 },
);

describe("merchant statistics", () => {
  test("counts add up", () => {
    fc.assert(
      fc.property(escrows, (list) => {
        const stats = merchantStats(list);
        const tally = { Pending: 0, Fulfilled: 0, PartiallyFulfilled: 0, Refunded: 0 };
        for (const escrow of list) tally[escrow.state] += 1;
        expect(stats).toMatchObject({
          escrows: list.length,
          pending: tally.Pending,
          fulfilled: tally.Fulfilled,
          partiallyFulfilled: tally.PartiallyFulfilled,
          refunded: tally.Refunded,
        });
      }),
      runs(200),
    );
  });

  // The lower median: at least half of the values are at or below it, and no smaller value has that property.
  test("the median is the lower median, and so the time of a real delivery", () => {
    fc.assert(
      fc.property(escrows, (list) => {
        const { medianDeliverySeconds: median } = merchantStats(list);
        const seconds = list
          .filter(({ state }) => state === "Fulfilled" || state === "PartiallyFulfilled")
          .map(({ settledAt, createdAt }) => (settledAt ?? 0n) - createdAt);
        if (median === null) return expect(seconds).toHaveLength(0);
        expect(seconds).toContain(median);
        const below = seconds.filter((value) => value < median).length;
        const upTo = seconds.filter((value) => value <= median).length;
        expect(below).toBeLessThan(seconds.length / 2);
        expect(upTo).toBeGreaterThanOrEqual(seconds.length / 2);
      }),
      runs(200),
    );
  });

  test("order does not matter", () => {
    fc.assert(
      fc.property(escrows, (list) => {
        expect(merchantStats(list.toReversed())).toEqual(merchantStats(list));
      }),
      runs(50),
    );
  });
});

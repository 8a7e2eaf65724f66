import { expect, test } from "bun:test";
import fc from "fast-check";
import { lateFault, spentFault } from "../../../../core/use-cases/x402/judge-payment.ts";
import { anyEscrow } from "../../../arbitraries/escrow.ts";
import { TEST_DEPLOYMENT } from "../../../arbitraries/test-ledger.ts";

test("a payment begins a delivery while a fourth of the offered time is left, and ends one until it expires", () => {
  fc.assert(
    fc.property(
      anyEscrow(TEST_DEPLOYMENT, ["Pending"]),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.integer({ min: 1, max: 604_800 }),
      (escrow, part, ttl) => {
        const left = BigInt(Math.floor(ttl * part));
        const at = escrow.expiresAt - left;
        expect(lateFault(escrow, at, { ttlSeconds: ttl })?.code).toBe(
          Number(left) >= ttl / 4 ? undefined : "payment_expired",
        );
        expect(spentFault(escrow, at)?.code).toBe(left > 0n ? undefined : "payment_expired");
      },
    ),
  );
});

test("a settled payment begins and ends none", () => {
  const settled = anyEscrow(TEST_DEPLOYMENT, ["Fulfilled", "PartiallyFulfilled", "Refunded"]);
  fc.assert(
    fc.property(settled, (escrow) => {
      for (const at of [escrow.createdAt, escrow.expiresAt])
        expect([
          lateFault(escrow, at, { ttlSeconds: 60 })?.code,
          spentFault(escrow, at)?.code,
        ]).toEqual(["payment_spent", "payment_spent"]);
    }),
  );
});

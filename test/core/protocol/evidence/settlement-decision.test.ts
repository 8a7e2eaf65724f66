import { expect, test } from "bun:test";
import fc from "fast-check";
import { settlementDecision } from "../../../../core/protocol/evidence/evidence-data.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { anyEscrow } from "../../../arbitraries/escrow.ts";
import { runs } from "../../../arbitraries/runs.ts";

/** The decision of each settled state, at any time (docs/protocol.md, "Evidence packet"). */
const SETTLED = {
  Fulfilled: { status: "released", reason: "merchant_delivery_proof_verified" },
  PartiallyFulfilled: { status: "released", reason: "merchant_partial_delivery_proof_verified" },
  Refunded: { status: "refunded", reason: "ttl_expired_without_delivery_proof" },
} as const;

test("the decision is that of the protocol's table, at any ledger time", () => {
  const offset = fc.oneof(
    fc.bigInt({ min: -3n, max: 3n }),
    fc.bigInt({ min: -(10n ** 9n), max: 10n ** 9n }),
  );
  fc.assert(
    fc.property(anyEscrow(LOCAL_DEPLOYMENT), offset, (escrow, offset) => {
      const decision = settlementDecision(escrow, escrow.expiresAt + offset);
      const waiting = offset < 0n ? "awaiting_delivery_proof" : "ttl_expired_refund_available";
      const settled = (state: keyof typeof SETTLED) =>
        state === "Refunded" && (escrow.settledAt ?? 0n) < escrow.expiresAt
          ? { status: "refunded", reason: "merchant_cancelled" }
          : SETTLED[state];
      expect<object>(decision).toEqual(
        escrow.state === "Pending" ? { status: "pending", reason: waiting } : settled(escrow.state),
      );
    }),
    runs(300),
  );
});

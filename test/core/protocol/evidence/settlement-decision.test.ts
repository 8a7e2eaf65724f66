import { expect, test } from "bun:test";
import fc from "fast-check";
import { endOf, type Escrow } from "../../../../core/domain/escrow/escrow.ts";
import { settlementDecision } from "../../../../core/protocol/evidence/evidence-data.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { anyEscrow } from "../../../arbitraries/escrow.ts";
import { runs } from "../../../arbitraries/runs.ts";

/** The decision of each settled state, at any time (docs/verify-evidence.md, "What follows from it"). */
const SETTLED = {
  Fulfilled: { status: "released", reason: "merchant_delivery_proof_verified" },
  PartiallyFulfilled: { status: "released", reason: "merchant_partial_delivery_proof_verified" },
} as const;

/** Why nothing was released: the merchant cancelled, or the end came, which the agent of a session can set. */
const refunded = ({ settledBy, closesAt }: Escrow): object => ({
  status: "refunded",
  reason:
    settledBy === "cancel"
      ? "merchant_cancelled"
      : closesAt === null
        ? "ttl_expired_without_delivery_proof"
        : "session_closed_without_delivery_proof",
});

test("the decision is that of the protocol's table, at any ledger time", () => {
  const offset = fc.oneof(
    fc.bigInt({ min: -3n, max: 3n }),
    fc.bigInt({ min: -(10n ** 9n), max: 10n ** 9n }),
  );
  fc.assert(
    fc.property(anyEscrow(LOCAL_DEPLOYMENT), offset, (escrow, offset) => {
      const decision = settlementDecision(escrow, endOf(escrow) + offset);
      const waiting = offset < 0n ? "awaiting_delivery_proof" : "ttl_expired_refund_available";
      const settled = (state: keyof typeof SETTLED | "Refunded") =>
        state === "Refunded" ? refunded(escrow) : SETTLED[state];
      expect<object>(decision).toEqual(
        escrow.state === "Pending" ? { status: "pending", reason: waiting } : settled(escrow.state),
      );
    }),
    runs(300),
  );
});

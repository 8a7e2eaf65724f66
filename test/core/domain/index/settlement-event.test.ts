import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { address } from "../../../../core/domain/address.ts";
import { endOf, isRefundable, refundedAmount } from "../../../../core/domain/escrow/escrow.ts";
import { eventKindOf, eventsOf } from "../../../../core/domain/index/settlement-event.ts";
import { anyEscrow } from "../../../arbitraries/escrow.ts";
import { runs } from "../../../arbitraries/runs.ts";

const deployment = {
  custodyProgram: address("Custody111111111111111111111111111111111111"),
  attestorProgram: address("Attestor11111111111111111111111111111111111"),
};
const escrow = anyEscrow(deployment);
describe("settlement events", () => {
  test("an escrow's account proves its creation, and its settlement once it is settled", () => {
    fc.assert(
      fc.property(escrow, (value) => {
        const [created, settled, ...more] = eventsOf(value);
        const parties = {
          escrow: value.address,
          agentOwner: value.agentOwner,
          merchant: value.merchant,
          mint: value.mint,
        };
        expect(more).toEqual([]);
        expect(created).toEqual({
          ...parties,
          id: `${value.address}:escrow_created`,
          kind: "escrow_created",
          state: "Pending",
          amount: value.amount,
          proofHash: null,
          occurredAt: value.createdAt,
        });
        if (value.settledAt === null) return expect(settled).toBeUndefined();
        const kind = {
          Pending: undefined,
          Fulfilled: "escrow_released",
          PartiallyFulfilled: "escrow_partially_released",
          Refunded: "escrow_refunded",
        }[value.state];
        expect(settled).toEqual({
          ...parties,
          id: `${value.address}:${kind}`,
          kind: kind as "escrow_released",
          state: value.state,
          amount: value.state === "Refunded" ? value.amount : value.released,
          proofHash: value.attestation?.proofHash ?? null,
          occurredAt: value.settledAt,
        });
      }),
      runs(200),
    );
  });

  test("the amounts to the merchant and back to the agent add up, once settled", () => {
    fc.assert(
      fc.property(escrow, fc.bigInt({ min: -5n, max: 5n }), (value, offset) => {
        const back = refundedAmount(value);
        if (value.state === "Pending") expect(back).toBe(0n);
        else expect(back + value.released).toBe(value.amount);
        expect(isRefundable(value, endOf(value) + offset)).toBe(
          value.state === "Pending" && offset >= 0n,
        );
      }),
      runs(200),
    );
  });
});

test("the kind of a state is that of the last event of an escrow in it", () => {
  fc.assert(
    fc.property(escrow, (value) => {
      expect(eventsOf(value).at(-1)?.kind).toBe(eventKindOf(value.state));
    }),
    runs(200),
  );
});

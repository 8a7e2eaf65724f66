import { createHash } from "node:crypto";
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { address } from "../../../../core/domain/address.ts";
import { isRefundable, refundedAmount } from "../../../../core/domain/escrow/escrow.ts";
import { chainedEventHash, eventChainStart } from "../../../../core/domain/index/event-chain.ts";
import {
  eventsOf,
  provesEvent,
  type SettlementEvent,
} from "../../../../core/domain/index/settlement-event.ts";
import { anyEscrow } from "../../../arbitraries/escrow.ts";
import { anyDeployment, anyHash32 } from "../../../arbitraries/ledger-values.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { canonicalText } from "../encoding/canonical-text.ts";

const deployment = {
  custodyProgram: address("Custody111111111111111111111111111111111111"),
  attestorProgram: address("Attestor11111111111111111111111111111111111"),
};
const escrow = anyEscrow(deployment);
const event = fc
  .tuple(escrow, fc.boolean())
  .map(([value, last]) => eventsOf(value).at(last ? -1 : 0) as SettlementEvent);

const time = (seconds: bigint): string =>
  new Date(Number(seconds) * 1000).toISOString().replace(".000Z", "Z");

const sha256 = (...parts: ReadonlyArray<string | Uint8Array>): string => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
};

const chain = (events: ReadonlyArray<SettlementEvent>) => {
  let last = eventChainStart("genesis", deployment);
  for (const link of events) last = chainedEventHash(last, link);
  return last;
};

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
        expect(isRefundable(value, value.expiresAt + offset)).toBe(
          value.state === "Pending" && offset >= 0n,
        );
      }),
      runs(200),
    );
  });
});

describe("the events that a state proves", () => {
  test("are exactly the events of an escrow in that state", () => {
    fc.assert(
      fc.property(escrow, event, (value, candidate) => {
        const own = eventsOf(value).some(({ kind }) => kind === candidate.kind);
        expect(provesEvent(value.state, candidate)).toBe(own);
        expect(provesEvent(undefined, candidate)).toBe(false);
      }),
      runs(200),
    );
  });
});

describe("event chain", () => {
  test("it starts from the ledger and the two programs", () => {
    fc.assert(
      fc.property(fc.string(), anyDeployment, (genesisHash, programs) => {
        const text = canonicalText({
          attestor_program: programs.attestorProgram,
          custody_program: programs.custodyProgram,
          genesis_hash: genesisHash,
        });
        expect(eventChainStart(genesisHash, programs) as string).toBe(sha256(text));
      }),
      runs(50),
    );
  });

  test("each hash is SHA-256 of the one before and the event's canonical JSON", () => {
    fc.assert(
      fc.property(anyHash32, event, (previous, link) => {
        const text = canonicalText({
          id: link.id,
          kind: link.kind,
          escrow_pda: link.escrow,
          agent_owner: link.agentOwner,
          merchant: link.merchant,
          mint: link.mint,
          state: link.state,
          amount_stroops: String(link.amount),
          proof_hash: link.proofHash,
          occurred_at: time(link.occurredAt),
        });
        const expected = sha256(Buffer.from(previous, "hex"), text);
        expect(chainedEventHash(previous, link) as string).toBe(expected);
      }),
      runs(200),
    );
  });

  test("altering, dropping or swapping an event changes the last hash", () => {
    const events = fc.uniqueArray(event, { minLength: 2, maxLength: 8, selector: ({ id }) => id });
    fc.assert(
      fc.property(events, fc.nat(), fc.nat(), anyHash32, (list, i, j, hash) => {
        const at = i % list.length;
        const chosen = list[at] as SettlementEvent;
        const last = chain(list);
        const alterations: ReadonlyArray<Partial<SettlementEvent>> = [
          { amount: chosen.amount + 1n },
          { occurredAt: chosen.occurredAt - 1n },
          { proofHash: chosen.proofHash === hash ? null : hash },
          { state: chosen.state === "Pending" ? "Refunded" : "Pending" },
          { merchant: chosen.escrow },
          { id: `${chosen.id}x` },
        ];
        for (const change of alterations) {
          expect(chain(list.with(at, { ...chosen, ...change }))).not.toBe(last);
        }
        expect(chain(list.toSpliced(at, 1))).not.toBe(last);
        const other = (at + 1 + (j % (list.length - 1))) % list.length;
        const swapped = list.with(at, list[other] as SettlementEvent).with(other, chosen);
        expect(chain(swapped)).not.toBe(last);
      }),
      runs(50),
    );
  });
});

import { describe, expect, test } from "bun:test";
import { hash32FromBytes } from "../../../../core/domain/hash32.ts";
import { TEST_DEPLOYMENT } from "../../../arbitraries/test-ledger.ts";
import { CREATED_AT, escrow, EXPIRES_AT } from "../../../adapters/http/support/parties.ts";
import { RELAY_POLICY } from "../../../../core/domain/relay/relay-policy.ts";
import type { SettlementFault } from "../../../../core/domain/relay/settlement-rule.ts";
import {
  expiredFault,
  notArchivableFault,
  notExpiredFault,
} from "../../../../core/protocol/accounts/escrow-rules.ts";
import { freshnessFault } from "../../../../core/protocol/rules/proof-rules.ts";

const pending = escrow("within the margin");
const settled = escrow("archivable", "Fulfilled");
const SETTLED_AT = settled.settledAt ?? 0n;
const WEEK_SECONDS = 604_800n;
const SIGNED_AT = CREATED_AT + 100n;

const MARGINS = [0n, RELAY_POLICY.clockMarginSeconds];

/**
 * A rule by the ledger's clock: the first second at which it lets a transaction pass, and the last one; null without
 * one.
 */
type Bounds = {
  readonly rule: SettlementFault["rule"];
  readonly fault: (ledgerTime: bigint, marginSeconds: bigint) => SettlementFault | undefined;
  readonly first: ((marginSeconds: bigint) => bigint) | null;
  readonly last: ((marginSeconds: bigint) => bigint) | null;
};
const viewOf = (ledgerTime: bigint, marginSeconds: bigint) => ({
  deployment: TEST_DEPLOYMENT,
  domain: hash32FromBytes(new Uint8Array(32)),
  account: () => null,
  ledgerTime,
  marginSeconds,
});
const freshness = (ledgerTime: bigint, marginSeconds: bigint) =>
  freshnessFault(SIGNED_AT, pending, viewOf(ledgerTime, marginSeconds));

const RULES: ReadonlyArray<Bounds> = [
  {
    rule: "attestation_in_future",
    fault: freshness,
    first: (margin) => SIGNED_AT - 30n - margin,
    last: null,
  },
  {
    rule: "attestation_stale",
    fault: freshness,
    first: null,
    last: (margin) => SIGNED_AT + 300n + margin,
  },
  {
    rule: "not_expired",
    fault: (...view) => notExpiredFault(pending, viewOf(...view)),
    first: (margin) => EXPIRES_AT - margin,
    last: null,
  },
  {
    // The ledger's clock only goes forward, so what has expired stays so.
    rule: "expired",
    fault: (...view) => expiredFault(pending, viewOf(...view)),
    first: null,
    last: () => EXPIRES_AT - 1n,
  },
  {
    rule: "not_archivable",
    fault: (...view) => notArchivableFault(settled, viewOf(...view)),
    first: (margin) => SETTLED_AT + WEEK_SECONDS - margin,
    last: null,
  },
];

describe.each(RULES.map((bounds) => [bounds.rule, bounds] as const))(
  "%s is told only when it holds however far the ledger's clock is off",
  (rule, { fault, first, last }) => {
    test.each(MARGINS.map((margin) => [Number(margin), margin] as const))(
      "by %d s",
      (_shown, margin) => {
        if (first !== null) {
          expect(fault(first(margin), margin)).toBeUndefined();
          expect(fault(first(margin) - 1n, margin)?.rule).toBe(rule);
        }
        if (last !== null) {
          expect(fault(last(margin), margin)).toBeUndefined();
          expect(fault(last(margin) + 1n, margin)?.rule).toBe(rule);
        }
      },
    );
  },
);

test("a timestamp outside of the escrow's life is told as requests write it", () => {
  const told = (timestamp: bigint) =>
    freshnessFault(timestamp, pending, viewOf(CREATED_AT, 0n))?.detail;
  expect(told(CREATED_AT - 1n)).toBe(
    "the attestation's timestamp 2026-03-01T11:59:59Z (1772366399) is outside of the escrow's life, from 2026-03-01T12:00:00Z (1772366400) to before 2026-03-01T13:00:00Z (1772370000)",
  );
  // A message holds an i64, which may have no such form.
  expect(told(-1n)).toStartWith("the attestation's timestamp -1 is outside");
  expect(told(2n ** 63n - 1n)).toStartWith("the attestation's timestamp 9223372036854775807 is");
});

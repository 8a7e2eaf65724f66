import { Clock, Effect } from "effect";
import type { Escrow } from "../domain/escrow.ts";
import { eventsOf, type SettlementEvent } from "../domain/settlement-event.ts";
import type { SyncReport } from "../domain/sync-report.ts";
import { decodeAttestorRegistryAccount } from "../protocol/attestor-registry-account.ts";
import { decodeClockSysvar } from "../protocol/clock-sysvar.ts";
import { decodeCustodyConfigAccount } from "../protocol/custody-config-account.ts";
import { decodeEscrowAccount } from "../protocol/escrow-account.ts";
import { decodeMerchantAccount } from "../protocol/merchant-account.ts";
import { CLOCK_SYSVAR } from "../protocol/well-known-addresses.ts";
import { EscrowIndex, type Sighted } from "../../ports/escrow-index.ts";
import { Instance } from "../../ports/instance.ts";
import { Ledger, LedgerUnavailable } from "../../ports/ledger.ts";
import { snapshotProgram } from "./snapshot-program.ts";

const byTime = (a: SettlementEvent, b: SettlementEvent): number =>
  a.occurredAt < b.occurredAt ? -1 : a.occurredAt > b.occurredAt ? 1 : a.id < b.id ? -1 : 1;

const eventsOfAll = (rows: ReadonlyArray<Sighted<Escrow>>): ReadonlyArray<SettlementEvent> =>
  rows.flatMap(({ row }) => eventsOf(row)).sort(byTime);

/**
 * Brings the index up to the ledger's finalized state by a snapshot of both programs' accounts. Accounts
 * that fail a check are reported and never stored; the mark moves only once everything is applied.
 * Fails with a ledger or store failure, leaving whole batches behind and the mark where it was.
 * See docs/protocol.md, "Index".
 */
export const syncIndex = Effect.fn("syncIndex")(function* (run: number) {
  const startedAtMs = yield* Clock.currentTimeMillis;
  const ledger = yield* Ledger;
  const index = yield* EscrowIndex;
  const { deployment } = yield* Instance;
  const { mark } = yield* index.summary;
  const notBefore = mark?.slot ?? 0n;
  const merchants = yield* snapshotProgram({
    program: deployment.attestorProgram,
    notBefore,
    decode: (account) =>
      "value" in decodeAttestorRegistryAccount(account, deployment)
        ? null
        : decodeMerchantAccount(account, deployment),
    toBatch: (rows) => ({ escrows: [], merchants: rows, events: [] }),
    changesOf: (result) => result.merchants,
  });
  const escrows = yield* snapshotProgram({
    program: deployment.custodyProgram,
    notBefore,
    decode: (account) =>
      "value" in decodeCustodyConfigAccount(account, deployment)
        ? null
        : decodeEscrowAccount(account, deployment),
    toBatch: (rows) => ({ escrows: rows, merchants: [], events: eventsOfAll(rows) }),
    changesOf: (result) => result.escrows,
  });
  const clock = yield* ledger.readAccounts([CLOCK_SYSVAR], "finalized");
  const ledgerTime = decodeClockSysvar(clock.value[0] ?? null);
  if (ledgerTime === undefined)
    return yield* new LedgerUnavailable({ retryable: true, cause: "no clock sysvar" });
  const slots = [merchants.slot, escrows.slot].filter((slot) => slot !== null);
  const slot = slots.reduce((low, next) => (next < low ? next : low), clock.slot);
  const atMs = yield* Clock.currentTimeMillis;
  yield* index.apply({
    escrows: [],
    merchants: [],
    events: [],
    mark: { slot, ledgerTime, atMs },
  });
  const report: SyncReport = {
    id: `sync-${startedAtMs}-${run}`,
    mode: "snapshot",
    slot,
    escrows: escrows.counts,
    merchants: merchants.counts,
    eventsAdded: escrows.eventsAdded,
    rejected: [...escrows.rejected, ...merchants.rejected].slice(0, 100),
    startedAtMs,
    durationMs: Math.max(0, atMs - startedAtMs),
  };
  return report;
});

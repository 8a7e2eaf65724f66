import type { SyncReport } from "../../../core/domain/index/sync-report.ts";
import type { SyncReportRecord } from "../schemas/sync.ts";

/** A completed sync as JSON. */
export const syncReportRecord = (report: SyncReport): SyncReportRecord => ({
  sync_id: report.id,
  status: "completed",
  mode: report.mode,
  slot: Number(report.slot),
  escrows: report.escrows,
  merchants: report.merchants,
  events: { added: report.eventsAdded },
  rejected: report.rejected.map(({ address, fault }) => ({ address, reason: fault })),
  vanished: [...report.vanished],
  duration_ms: report.durationMs,
});

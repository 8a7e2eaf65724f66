import { test } from "bun:test";
import { manySchedules, whole } from "./many-schedules.ts";
import { inMemory, inSqlite } from "./schedule-stores.ts";

/** `bun run test:more log-schedules` runs 200. */
const SCHEDULES = whole("LOG_SCHEDULES", 8);

test(
  `${SCHEDULES} schedules of growth, archiving, syncs, kills, replicas, rotations, ends, lagging and lying nodes: every store's tree is the ledger's, and so is every root that is signed or cosigned`,
  () =>
    manySchedules(
      SCHEDULES,
      (seed) => (seed % 3 === 0 ? inSqlite : inMemory),
      (environment) => `${environment} bun test test/log/schedules`,
    ),
  3_600_000,
);

import { test } from "bun:test";
import { freshSchema } from "../adapters/postgres/test-database.ts";
import { amountOf } from "../chaos/support/chaos-run.ts";
import { killDeliveries } from "../chaos/support/kills/kill-deliveries.ts";

test(
  "two services share their webhooks: one delivers, and when either is killed nothing is lost or out of order",
  () =>
    killDeliveries({
      kills: amountOf({ quick: 2, long: 25 }),
      replicas: 2,
      shared: { DATABASE_URL: freshSchema().href },
    }),
  600_000,
);

import { test } from "bun:test";
import { amountOf, LONG_MS } from "./support/chaos-run.ts";
import { killDeliveries } from "./support/kills/kill-deliveries.ts";

test(
  "killed while it delivers webhooks, a service loses no event and brings none out of order",
  () => killDeliveries({ kills: amountOf({ quick: 2, long: 50 }), replicas: 1, shared: {} }),
  // Each kill starts a service anew; a machine with a load of 100 takes minutes for one.
  4 * LONG_MS,
);

import { test } from "bun:test";
import { amountOf, LONG_MS } from "./support/chaos-run.ts";
import { killPublishers } from "./support/log-kills/kill-publishers.ts";

test(
  "killed while it builds, follows, tiles or signs, a log goes on with one root for a size, whole tiles and the ledger's events",
  () =>
    killPublishers({
      kills: amountOf({ quick: 9, long: 300 }),
      leastInAPhase: amountOf({ quick: 1, long: 20 }),
      atOnce: amountOf({ quick: 1, long: 2 }),
    }),
  // Some 400 processes start, two at a time. On a machine with a load of 17 they take more than half an hour.
  4 * LONG_MS,
);

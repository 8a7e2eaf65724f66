import { afterAll, test } from "bun:test";
import { join } from "node:path";
import { seededRandom } from "../../../arbitraries/seeded-random.ts";
import { endureFlood } from "../../../chaos/support/faults/endure-flood.ts";
import type { Manner } from "../../../chaos/support/faults/junk-flood.ts";
import { temporaryFolder } from "../../local-ledger/ledger-fixture.ts";

// The short form of test/chaos/junk-flood.chaos.ts.

const folder = temporaryFolder();
afterAll(() => folder.remove());

test.each<readonly [Manner, "zeros" | "random" | "forged"]>([
  ["follows filters", "zeros"],
  ["follows filters", "forged"],
  ["gives parts only", "zeros"],
  ["ignores filters", "zeros"],
  ["ignores filters", "random"],
])(
  "accounts that custody has not made do not stop the index at a node that %s: %s",
  (manner, contents) => {
    const path = join(folder.path, manner, contents, "index.sqlite");
    const flood = { small: 200, large: 3, largeBytes: 10 * 1024 * 1024, contents };
    return endureFlood({ flood, manner, path }, seededRandom(7));
  },
);

import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readEvidence } from "../../../client/mcp/tools/read-evidence.ts";
import { policyIn } from "../../../client/pinned-policy.ts";
import { failureOf } from "../support/failure-of.ts";
import { toolContext } from "./tool-context.ts";

const vector = (name: string): string =>
  readFileSync(join(import.meta.dir, "../../vectors/evidence", name), "utf8");

const PACKET = vector("fulfilled.json");
const { escrow_pda: ESCROW } = (
  JSON.parse(PACKET) as { readonly data: { readonly escrow: { readonly escrow_pda: string } } }
).data.escrow;
const OTHER = "7ithf5tHzJMn92rtbAbfoqym3JADtusRecPGdQH3ioSE";
const TRUST = policyIn(vector("trust.json"));

/** What the tool says of an escrow at a service that answers every question with the same genuine packet. */
const readAt = (escrow: string, trust: typeof TRUST | null) =>
  readEvidence.run(
    { escrow },
    toolContext(() => Promise.resolve({ status: 200, headers: new Headers(), text: PACKET }), {
      trust,
      rebuilds: trust !== null,
    }),
  );

describe("read_evidence", () => {
  test("tells what the packet of the asked escrow says", async () => {
    expect(await readAt(ESCROW, TRUST)).toMatchObject({
      result: { decision: "released", verdict: "verified" },
    });
  });

  test.each([TRUST, null])("takes no packet of another escrow, genuine as it is", async (trust) => {
    const failure = await failureOf(readAt(OTHER, trust));
    expect(failure.code).toBe("another_escrow");
    expect(failure.message).toInclude(ESCROW);
  });
});

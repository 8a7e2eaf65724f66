import type { Vector } from "./accepting-vectors.ts";

/** A packet of valid form with one fault, and the checks that must fail under trust.json. */
export const rejects = (
  name: string,
  why: string,
  failed: string | ReadonlyArray<string>,
  packet: string,
  without_policy: Vector["without_policy"] = "failed",
): Vector => ({
  name,
  why,
  packet,
  failed_checks: typeof failed === "string" ? [failed] : failed,
  without_policy,
});

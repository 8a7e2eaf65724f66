import { Effect } from "effect";
import { monotonicMs } from "../../../core/use-cases/monotonic-time.ts";
import type { NodeAdmission } from "./pooled-node.ts";

/** Why a node may not be asked now. */
export type NotAdmitted = Exclude<NodeAdmission, { readonly _tag: "Admitted" }>;

/** How long a call still waits, milliseconds: for closed nodes, for nodes that limit requests, for nodes that are behind. */
export type Patience = { closedMs: number; pacedMs: number; behindMs: number };

/**
 * Waits until a node may be asked, and takes the time off the patience that covers it. False at once when no node can
 * be asked within that. `behindMs` is the wait before nodes that are behind are asked again, null when none is.
 */
export const waitForOne = Effect.fnUntraced(function* (
  admissions: ReadonlyArray<NotAdmitted>,
  behindMs: number | null,
  patience: Patience,
) {
  const startMs = yield* monotonicMs;
  const probes: Array<Effect.Effect<void>> = [];
  const waits: Array<{ readonly ms: number; readonly of: keyof Patience }> = [];
  const consider = (ms: number, of: keyof Patience) => {
    if (patience[of] > 0 && ms <= patience[of]) waits.push({ ms, of });
  };
  if (behindMs !== null) consider(behindMs, "behindMs");
  for (const admission of admissions) {
    if (admission._tag === "Cooling") consider(admission.untilMs - startMs, "closedMs");
    else if (admission._tag === "Paced") consider(admission.untilMs - startMs, "pacedMs");
    else if (patience.closedMs > 0) probes.push(admission.over);
  }
  if (probes.length > 0) waits.push({ ms: patience.closedMs, of: "closedMs" });
  const [soonest] = waits.sort((one, other) => one.ms - other.ms);
  if (soonest === undefined) return false;
  const sleep = Effect.sleep(Math.ceil(soonest.ms));
  yield* Effect.raceAllFirst([sleep, ...probes]);
  patience[soonest.of] -= (yield* monotonicMs) - startMs;
  return true;
});

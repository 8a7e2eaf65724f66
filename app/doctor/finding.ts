import { Data, Effect } from "effect";
import type { ConfigInvalid } from "../config/variable.ts";
import type { IndexRefused } from "../stores/index-refused.ts";
import type { StartFailure } from "../serve.ts";
import { startFailureText } from "../lifecycle/shutdown.ts";

/** What one check found. */
export type Finding = {
  readonly check: string;
  readonly ok: boolean;
  /** The finding as text; for a problem, with its cure. */
  readonly text: string;
  /** Whether the problem is only that something outside gives no answer now. */
  readonly isUnavailable?: true;
};

/** A problem that a start would notice late or not at all. The message names it and its cure. */
export class Problem extends Data.TaggedError("Problem")<{
  readonly message: string;
  /** Whether it is only that something outside gives no answer now. */
  readonly isUnavailable?: true;
}> {}

const isUnavailable = (failure: {
  readonly _tag: string;
  readonly isUnavailable?: true;
  readonly retryable?: boolean;
}): boolean =>
  failure.isUnavailable === true ||
  (failure._tag === "StoreUnavailable" && failure.retryable === true);

/** What a check found, from work that gives a text or fails. */
export const finding = <R>(
  check: string,
  work: Effect.Effect<string, Problem | ConfigInvalid | StartFailure | IndexRefused, R>,
): Effect.Effect<Finding, never, R> =>
  Effect.match(work, {
    onSuccess: (text) => ({ check, ok: true, text }),
    onFailure: (failure) => ({
      check,
      ok: false,
      text: failure._tag === "Problem" ? failure.message : startFailureText(failure),
      ...(isUnavailable(failure) ? { isUnavailable: true } : {}),
    }),
  });

import type { EvidenceVerdict, TrustPolicy } from "../../core/domain/evidence/evidence-check.ts";
import type { LogPolicy } from "../../core/log/policy/log-policy.ts";
import { trustedLogsOf } from "../../core/protocol/verification/trusted-logs.ts";
import type { ClientClock } from "../service/requests.ts";
import { SettlementError } from "../settlement-error.ts";

/** The pause between two looks doubles from the first to the last. */
const FIRST_LOOK_MS = 500;
const LAST_LOOK_MS = 10_000;

/**
 * The quorum that a packet still lacks, such as `quorum q wants 2 of [a, b, c]; signed: a`. Null when waiting cannot
 * help: the quorums are met, the policy wants none, or the packet fails, such as by a forged cosignature.
 */
export const missingQuorum = (
  { checks }: EvidenceVerdict,
  trust: Pick<TrustPolicy, "keys" | "logOnLedger" | "logAppendOnly">,
): string | null => {
  const trusted = trustedLogsOf(trust);
  if ("fault" in trusted || trusted.value === null) return null;
  if (checks.some(({ outcome }) => outcome === "failed")) return null;
  const { onLedger, appendOnly } = trusted.value;
  const missing = (policy: LogPolicy | null, name: string): string | undefined =>
    policy === null || policy.quorum === null
      ? undefined
      : checks.find((check) => check.name === name && check.outcome === "unproven")?.reason;
  return (
    missing(onLedger, "witnessed_on_ledger") ?? missing(appendOnly, "witnessed_append_only") ?? null
  );
};

/** The wait for a log's quorum behind a settled escrow's packet. */
export type QuorumWait = {
  /** Pauses before the packet is read again. @throws SettlementError `quorum_missing` when the time is over. */
  readonly again: (state: string, missing: string) => Promise<void>;
  /** Turns an abort during the wait into `quorum_missing`. Any other cause is returned unchanged. */
  readonly explain: (cause: unknown) => unknown;
};

/**
 * A wait of at most `withinMs` milliseconds from its first pause on. @throws SettlementError `invalid_quorum_within`
 * below 0.
 */
export const quorumWait = (
  clock: ClientClock,
  withinMs: number,
  signal: AbortSignal | undefined,
): QuorumWait => {
  if (!(withinMs >= 0))
    throw new SettlementError(
      "invalid_quorum_within",
      `quorumWithinMs is ${withinMs}.`,
      "Give milliseconds, 0 or more.",
    );
  let endsMs: number | null = null;
  let lookMs = FIRST_LOOK_MS;
  let last: { readonly state: string; readonly missing: string } | null = null;
  const failure = (when: string, cause?: unknown): SettlementError =>
    new SettlementError(
      "quorum_missing",
      `The escrow is ${last?.state}, and the log's quorum did not cosign it ${when}: ${last?.missing}.`,
      "Run the same again later. Where the service has other witnesses than the trust document, ask its operator to have them cosign.",
      { cause },
    );
  return {
    again: async (state, missing) => {
      const now = clock.nowMs();
      endsMs ??= now + withinMs;
      last = { state, missing };
      if (now >= endsMs) throw failure(`within ${withinMs / 1000} s`);
      await clock.pause(Math.min(lookMs, endsMs - now), signal);
      lookMs = Math.min(lookMs * 2, LAST_LOOK_MS);
    },
    explain: (cause) =>
      last !== null && signal?.aborted === true && cause === signal.reason
        ? failure("before the waiting was ended", cause)
        : cause,
  };
};

import type { EvidenceVerdict, TrustPolicy } from "../../core/domain/evidence/evidence-check.ts";
import { judgeCheckpoint } from "../../core/log/policy/judge-checkpoint.ts";
import { parseEvidencePacket } from "../../core/protocol/evidence/evidence-packet.ts";
import { logPolicyOf } from "../../core/protocol/verification/verify-in-log.ts";
import type { ClientClock } from "../service/requests.ts";
import { SettlementError } from "../settlement-error.ts";

/** The check that counts the witnesses. */
const WITNESSES = "log_witnesses";
/** The pause between two looks doubles from the first to the last. */
const FIRST_LOOK_MS = 1_000;
const LAST_LOOK_MS = 10_000;

/**
 * The quorum that a packet still lacks, such as `quorum q wants 2 of [a, b, c]; signed: a`. Null when waiting cannot
 * help: the quorum is met, the policy names none, or the packet fails for another reason, such as a forged cosignature.
 */
export const missingQuorum = (
  packet: string,
  verdict: EvidenceVerdict,
  { log, keys }: TrustPolicy,
): string | null => {
  const policy = log === null ? null : logPolicyOf(log, keys);
  if (policy === null || "fault" in policy || policy.value.quorum === null) return null;
  const checkNamed = (name: string) => verdict.checks.find((check) => check.name === name);
  const failed = verdict.checks.filter(({ outcome }) => outcome === "failed");
  if (failed.length === 0)
    return checkNamed("account_on_ledger")?.outcome === "unproven"
      ? (checkNamed(WITNESSES)?.reason ?? "the log is unproven")
      : null;
  if (failed.some(({ name }) => name !== WITNESSES)) return null;
  const parsed = parseEvidencePacket(packet);
  if ("fault" in parsed || parsed.value.log === null) return null;
  const judged = judgeCheckpoint(policy.value, parsed.value.log.proof.checkpoint);
  return "fault" in judged || judged.value.quorum.isMet ? null : judged.value.quorum.reason;
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

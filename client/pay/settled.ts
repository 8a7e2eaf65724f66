import type { EvidenceVerdict, TrustPolicy } from "../../core/domain/evidence/evidence-check.ts";
import { verifyEvidence } from "../../core/protocol/evidence/verify-evidence.ts";
import type { EvidencePacket } from "../generated/contract.ts";
import { pause } from "../service/pause.ts";
import { problemOf, type Requests, retryAfterMs } from "../service/requests.ts";
import { SettlementError } from "../settlement-error.ts";
import { settlementEvents } from "./settlement-events.ts";
import {
  type DeliveryJudgement,
  type DeliveryPayload,
  judgeDelivery,
  type Validate,
} from "./delivery.ts";

/** How an escrow ended, with the evidence of it. */
export type Settled = {
  readonly state: "Fulfilled" | "PartiallyFulfilled" | "Refunded";
  /** Base units, decimal. */
  readonly released: string;
  readonly refunded: string;
  /** The evidence packet as the service gave it: keep it. */
  readonly packet: string;
  /** The verdict over it under the pinned policy, every check by name. */
  readonly verdict: EvidenceVerdict;
  /** What the buyer's own check found, null when no payload was given. */
  readonly delivery: DeliveryJudgement | null;
};

/** What a caller of `settled` may say. */
export type SettledOptions = {
  /** Ends the waiting: `settled` then rejects with its reason. */
  readonly signal?: AbortSignal;
  /** What was delivered; it is compared with what was attested. */
  readonly delivery?: DeliveryPayload;
  /** The id of the proof template that the payload must fit. */
  readonly template?: string;
  /** The buyer's own check of the payload. */
  readonly validate?: Validate;
};

/** Between two looks when the stream says nothing. */
const LOOK_MS = 10_000;
/** A packet that is not complete yet is asked for again after this. */
const AGAIN_MS = 1_000;

type Reading =
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "packet"; readonly text: string; readonly packet: EvidencePacket };

const isFinal = (state: string): state is Settled["state"] => state !== "Pending";

const readPacket = async (
  requests: Requests,
  escrow: string,
  signal: AbortSignal | undefined,
): Promise<Reading> => {
  const answer = await requests.answer(`/v1/evidence/${escrow}`, { signal });
  const { status, text, headers } = answer;
  if (status === 200) {
    const packet = JSON.parse(text) as EvidencePacket;
    return { kind: "packet", text, packet };
  }
  const failure = problemOf(answer);
  // The ledger has the escrow, and finalizes it within seconds.
  const isEarly = failure.code === "not_final_yet" || status === 404;
  if (!isEarly) throw failure;
  return { kind: "wait", ms: retryAfterMs(headers) ?? AGAIN_MS };
};

const outcomeOf = (verdict: EvidenceVerdict, name: string): string | undefined =>
  verdict.checks.find((check) => check.name === name)?.outcome;

/** Whether the log's quorum is still missing: the proof comes some seconds after the settlement. */
const awaitsLog = (verdict: EvidenceVerdict, policy: TrustPolicy): boolean =>
  policy.log !== null &&
  !/^quorum\s+none\s*$/m.test(policy.log) &&
  outcomeOf(verdict, "account_on_ledger") === "unproven";

const requireSound = (verdict: EvidenceVerdict): void => {
  const failed = verdict.checks.filter(({ outcome }) => outcome === "failed");
  if (verdict.verdict === "verified") return;
  throw new SettlementError(
    "evidence_failed",
    `The evidence does not verify: ${failed.map(({ name, reason }) => `${name}: ${reason}`).join("; ")}.`,
    "Believe nothing of it. Check the trust document, and read the escrow from a node of your own.",
    { problem: { verdict } },
  );
};

/**
 * Waits until an escrow is settled and ends with its evidence, verified under the policy, the log's quorum included where the policy
 * names a log. @throws SettlementError when the evidence fails, and what the signal was aborted with.
 */
export const settled = async (
  requests: Requests,
  policy: TrustPolicy,
  escrow: string,
  options: SettledOptions = {},
): Promise<Settled> => {
  const { signal, delivery, template = null, validate = null } = options;
  const events = settlementEvents(requests, escrow, signal);
  try {
    for (;;) {
      signal?.throwIfAborted();
      const reading = await readPacket(requests, escrow, signal);
      if (reading.kind === "wait") {
        await pause(reading.ms, signal);
        continue;
      }
      const { text, packet } = reading;
      const { escrow: account, delivery_claim: claim } = packet.data;
      if (account.escrow_pda !== escrow)
        throw new SettlementError(
          "evidence_failed",
          `The service gave the evidence of ${account.escrow_pda}.`,
          "Believe nothing of it.",
        );
      const verdict = verifyEvidence(text, policy);
      requireSound(verdict);
      if (!isFinal(account.state)) {
        await Promise.race([events.next(), pause(LOOK_MS, signal)]);
        continue;
      }
      if (awaitsLog(verdict, policy)) {
        await pause(AGAIN_MS, signal);
        continue;
      }
      const attested = { proofHash: claim.proof_hash, taskHash: account.task_hash };
      return {
        state: account.state,
        released: account.released_stroops,
        refunded: account.refunded_stroops,
        packet: text,
        verdict,
        delivery:
          delivery === undefined
            ? null
            : await judgeDelivery(delivery, attested, template, validate),
      };
    }
  } finally {
    events.stop();
  }
};

import { parseAddress } from "../../core/domain/address.ts";
import type { EvidenceVerdict, TrustPolicy } from "../../core/domain/evidence/evidence-check.ts";
import { verifyEvidence } from "../../core/protocol/verification/verify-evidence.ts";
import type { ClientClock, Requests } from "../service/requests.ts";
import { SettlementError } from "../settlement-error.ts";
import { missingQuorum, quorumWait } from "./missing-quorum.ts";
import {
  type SettlementEvents,
  settlementEvents,
  type SettlementNews,
} from "./settlement-events.ts";
import { packetOnceFinal, requireSound } from "./packet-there.ts";
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

/** The options of `settled`. */
export type SettledOptions = {
  /**
   * Ends the waiting: `settled` then rejects with its reason, or with `quorum_missing` and the reason as its cause when
   * only the quorum is missing.
   */
  readonly signal?: AbortSignal;
  /**
   * The most that the quorum of the policy's log is awaited behind the settlement, milliseconds; 600,000 when left out.
   * Then `settled` rejects with `quorum_missing`, which names the quorum.
   */
  readonly quorumWithinMs?: number;
  /**
   * Called with what the ledger has confirmed of the settlement, some 12 seconds before its evidence, and again if a
   * fork undoes it. Nothing is proved by it.
   */
  readonly onNews?: (news: SettlementNews) => void;
  /** What was delivered; it is compared with what was attested. */
  readonly delivery?: DeliveryPayload;
  /** The id of the proof template that the payload must fit. */
  readonly template?: string;
  /** The buyer's own check of the payload. */
  readonly validate?: Validate;
};

/** The pause between two reads while the stream is silent. */
const LOOK_MS = 10_000;
/** The default wait for witnesses. They usually cosign within seconds of a settlement. */
const QUORUM_MS = 600_000;

const isFinal = (state: string): state is Settled["state"] => state !== "Pending";

/**
 * Waits for an event or for the time of the next look. The timer that loses ends at once, so that it keeps no process
 * alive.
 */
const nextLook = async (
  events: SettlementEvents,
  clock: ClientClock,
  signal: AbortSignal | undefined,
): Promise<void> => {
  const over = new AbortController();
  const both = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]);
  try {
    await Promise.race([events.next(), clock.pause(LOOK_MS, both)]);
  } finally {
    over.abort();
  }
};

/**
 * Waits until an escrow is settled and ends with its evidence, verified under the policy, the log's quorum included
 * where the policy names a log. @throws SettlementError when the evidence fails, `quorum_missing` when too few
 * witnesses cosigned in time, and what the signal was aborted with.
 */
export const settled = async (
  requests: Requests,
  policy: TrustPolicy,
  escrow: string,
  options: SettledOptions = {},
): Promise<Settled> => {
  const { signal, delivery, template = null, validate = null } = options;
  const { clock } = requests;
  const quorum = quorumWait(clock, options.quorumWithinMs ?? QUORUM_MS, signal);
  if (parseAddress(escrow) === undefined)
    throw new SettlementError(
      "invalid_escrow",
      `${escrow} is no address.`,
      "Give the escrow that `pay` returned.",
    );
  const events = settlementEvents(requests, escrow, signal, options.onNews);
  try {
    for (;;) {
      signal?.throwIfAborted();
      const { text, packet } = await packetOnceFinal(requests, escrow, signal);
      const verdict = verifyEvidence(text, policy);
      const missing = missingQuorum(verdict, policy);
      if (missing === null) requireSound(verdict);
      const { escrow: account, delivery_claim: claim } = packet.data;
      if (account.escrow_pda !== escrow)
        throw new SettlementError(
          "evidence_failed",
          `The service gave the evidence of ${account.escrow_pda}.`,
          "Believe nothing of it.",
        );
      if (!isFinal(account.state)) {
        await nextLook(events, clock, signal);
        continue;
      }
      if (missing !== null) {
        await quorum.again(account.state, missing);
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
  } catch (cause) {
    throw quorum.explain(cause);
  } finally {
    events.stop();
  }
};

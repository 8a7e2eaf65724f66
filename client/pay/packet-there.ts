import type { EvidenceVerdict, TrustPolicy } from "../../core/domain/evidence/evidence-check.ts";
import { decodeBase64 } from "../../core/domain/encoding/base64.ts";
import { verifyEvidence } from "../../core/protocol/verification/verify-evidence.ts";
import { addressNamed } from "../pinned-policy.ts";
import type { FinalAccount } from "./escrow-on-ledger.ts";
import type { EvidencePacket } from "../generated/contract.ts";
import { requestOf } from "../service/operation.ts";
import { jsonOf, problemOf, type Requests, retryAfterMs } from "../service/requests.ts";
import { SettlementError } from "../settlement-error.ts";

/** The pause before an incomplete packet is read again. */
const AGAIN_MS = 1_000;
/** How long a service that is behind may not know an escrow that was just paid. */
const UNKNOWN_MS = 120_000;

/** An escrow's packet as a service gave it. Nothing of it is verified. */
export type GivenPacket = { readonly text: string; readonly packet: EvidencePacket };

type Reading = GivenPacket | { readonly waitMs: number; readonly isUnknown: boolean };

const readPacket = async (
  requests: Requests,
  escrow: string,
  signal: AbortSignal | undefined,
): Promise<Reading> => {
  const answer = await requests.answer(
    ...requestOf("GET /v1/evidence/{pda}", { pda: escrow }, { signal }),
  );
  const { status, text, headers } = answer;
  if (status === 200) return { text, packet: jsonOf(answer) as EvidencePacket };
  const failure = problemOf(answer);
  // The ledger has the escrow, and finalizes it within seconds.
  const isEarly = failure.code === "not_final_yet" || status === 404;
  if (!isEarly) throw failure;
  const waitMs = retryAfterMs(headers, requests.clock.nowMs()) ?? AGAIN_MS;
  return { waitMs, isUnknown: status === 404 };
};

/**
 * The packet of an escrow, once the service has one: it makes none before the escrow is finalized. @throws
 * SettlementError `escrow_not_found` when it knows no such escrow for two minutes, and what the signal was aborted with.
 */
export const packetOnceFinal = async (
  requests: Requests,
  escrow: string,
  signal: AbortSignal | undefined,
): Promise<GivenPacket> => {
  const { clock } = requests;
  const began = clock.nowMs();
  for (;;) {
    const reading = await readPacket(requests, escrow, signal);
    if ("text" in reading) return reading;
    if (reading.isUnknown && clock.nowMs() - began > UNKNOWN_MS)
      throw new SettlementError(
        "escrow_not_found",
        `The service knows no escrow ${escrow}.`,
        "Check the address, and that the service serves the ledger of the trust document.",
      );
    await clock.pause(reading.waitMs, signal);
    signal?.throwIfAborted();
  }
};

/** @throws SettlementError `evidence_failed` or `unsupported_version` unless the verdict is `verified` */
export const requireSound = (verdict: EvidenceVerdict): void => {
  const failed = verdict.checks.filter(({ outcome }) => outcome === "failed");
  if (verdict.verdict === "verified") return;
  if (verdict.verdict === "unsupported_version")
    throw new SettlementError(
      "unsupported_version",
      `The evidence is of a version that this client does not read: ${verdict.checks[0]?.reason ?? ""}.`,
      "Use the client of the service's version.",
      { problem: { verdict } },
    );
  throw new SettlementError(
    "evidence_failed",
    `The evidence does not verify: ${failed.map(({ name, reason }) => `${name}: ${reason}`).join("; ")}.`,
    "Believe nothing of it. Check the trust document, and read the escrow from a node of your own.",
    { problem: { verdict } },
  );
};

/**
 * An escrow's account by the packet that the service signs once it is finalized: the word of a key of the trust
 * document, for who names no nodes.
 */
export const finalAccountByPacket =
  (requests: Requests, policy: TrustPolicy): FinalAccount =>
  async (escrow, signal) => {
    const { text, packet } = await packetOnceFinal(requests, escrow, signal);
    requireSound(verifyEvidence(text, policy));
    const { owner, data_base64: data } = packet.data.account;
    return { owner: addressNamed(owner, "owner"), data: decodeBase64(data) ?? new Uint8Array() };
  };

import { decodeBase64, encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { CALL_NONCE_BYTES } from "../../../core/protocol/calls/call-order.ts";
import {
  type CallVoucher,
  vouchedMessage,
  VOUCHER_HEADER,
  voucherHeader,
} from "../../../core/protocol/calls/call-voucher.ts";
import { isAttestationSigned } from "../../../core/protocol/calls/judge-call.ts";
import { HEAD_HEADER, sessionHeadBytes } from "../../../core/protocol/calls/session-head.ts";
import type { SessionTally } from "../../../core/protocol/calls/session-tally.ts";
import { SettlementError } from "../../settlement-error.ts";
import { signatureBy } from "../../signing/sign-transaction.ts";
import {
  type AgentContext,
  MOST_SENDS,
  FIRST_PAUSE_MS,
  tallyAt,
  failed,
  send,
} from "./send-call.ts";
import { adopt } from "./take-answer.ts";

/** What a seller signed at the end. */
type Final = {
  readonly deliveries: string;
  readonly total_stroops: string;
  readonly count: number;
  readonly timestamp: number;
  readonly attestation_signature: string;
  readonly ends_by?: string;
};

/** What a seller agreed to at the end. */
export type ClosedSession = {
  /** How many calls there were. */
  readonly count: number;
  /** What they cost, base units. */
  readonly total: bigint;
  /**
   * How the session ends on the ledger: by the seller's `release`; where nothing was used, which no release takes, by the
   * merchant's `cancel`, or by the `agent` alone, where the seller does not have the merchant's wallet.
   */
  readonly endsBy: "release" | "cancel" | "agent";
};

const finalIn = (body: Uint8Array): Final | null => {
  try {
    return JSON.parse(new TextDecoder().decode(body)) as Final;
  } catch {
    return null;
  }
};

const isFinal = ({ session }: AgentContext, tally: SessionTally, final: Final): boolean => {
  try {
    const signature = decodeBase64(final.attestation_signature);
    const { deliveries, total, count } = tally;
    return (
      signature !== undefined &&
      isAttestationSigned(session, {
        deliveries,
        total,
        count,
        timestamp: BigInt(final.timestamp),
        isFinal: true,
        signature,
      })
    );
  } catch {
    return false;
  }
};

const closingVoucher = async (
  { session, signer }: AgentContext,
  { orders, total, count }: SessionTally,
): Promise<CallVoucher> => {
  const claim = { orders, total, count, isClosing: true };
  const signature = await signatureBy(signer, vouchedMessage(session, claim));
  const nonce = new Uint8Array(CALL_NONCE_BYTES);
  return { ...claim, escrow: session.escrow, limit: 0n, nonce, signature };
};

/**
 * Closes a session with its seller at a URL that it sells: no call is taken afterwards, and the seller has signed what
 * the whole session costs. The same again gives the same. @throws SettlementError; then the agent's wallet can close
 * the session on the ledger.
 */
export const closeWithSeller = async (
  context: AgentContext,
  url: string,
  signal?: AbortSignal,
): Promise<ClosedSession> => {
  let last = "it gave no answer";
  for (let sends = 0; sends < MOST_SENDS; sends++) {
    if (sends > 0) await context.clock.pause(FIRST_PAUSE_MS * 2 ** (sends - 1), signal);
    const state = await context.journal.state();
    const tally = tallyAt(state);
    // One of fewer calls is void: the answer of another has come since.
    const kept = state.closing?.count === tally.count ? state.closing : null;
    const voucher = kept ?? (await closingVoucher(context, tally));
    if (kept === null) await context.journal.close(voucher);
    const head: Readonly<Record<string, string>> =
      state.head === null ? {} : { [HEAD_HEADER]: encodeBase64(sessionHeadBytes(state.head)) };
    const request = signal === undefined ? { url } : { url, signal };
    const carried = { ...head, [VOUCHER_HEADER]: voucherHeader(voucher) };
    const sent = await send(context, request, carried).catch((cause: unknown) => {
      signal?.throwIfAborted();
      if (cause instanceof SettlementError) throw cause;
      return null;
    });
    if (sent === null) continue;
    const final = sent.status === 200 ? finalIn(sent.body) : null;
    if (final !== null && isFinal(context, tally, final)) {
      const { count, total } = tally;
      if (total > 0n) return { count, total, endsBy: "release" };
      return { count, total, endsBy: final.ends_by === "cancel" ? "cancel" : "agent" };
    }
    const shown = sent.headers.get(HEAD_HEADER);
    if (sent.problem?.code === "agent_is_behind" && shown !== null)
      await adopt(context, state, shown, null);
    // It signs nothing for the session any more, and has the newest record now, by which it is paid.
    if (sent.problem?.code === "session_restored")
      throw failed(
        "session_restored",
        `The seller did not close the session: ${sent.problem.detail}`,
        "Close it on the ledger with the agent's wallet.",
      );
    last = sent.problem?.detail ?? `it answered ${sent.status} without a final attestation`;
  }
  throw failed(
    "seller_closes_not",
    `The seller did not close the session: ${last}`,
    "Close it on the ledger with the agent's wallet.",
  );
};

import {
  attestedCallsMessage,
  type CallAttestation,
  type CallReceipt,
} from "../../../core/protocol/calls/call-receipt.ts";
import { isAttestationSigned } from "../../../core/protocol/calls/judge-call.ts";
import type { SessionTally } from "../../../core/protocol/calls/session-tally.ts";
import { SettlementError } from "../../settlement-error.ts";
import { tallyIn } from "../store/session-state.ts";
import type { KeptSession, StagedCall, StoredSession } from "../store/session-store.ts";
import type { SellerContext } from "./seller-context.ts";

/** An attestor that gave no attestation. The same call again asks it for the same one. */
export class AttestorUnusable extends SettlementError {
  constructor(reason: string, cause: unknown) {
    super("attestor_unusable", `The attestor: ${reason}.`, "Send the same call again.", { cause });
  }
}

/** The attestation of a session's deliveries, signed. */
const attested = async (
  { attestor }: Pick<SellerContext, "attestor">,
  session: KeptSession,
  tally: SessionTally,
  timestamp: bigint,
  isFinal: boolean,
): Promise<CallAttestation> => {
  const claim = {
    deliveries: tally.deliveries,
    total: tally.total,
    timestamp,
    count: tally.count,
    isFinal,
  };
  if (!("attest" in attestor))
    return { ...claim, signature: await attestor.sign(attestedCallsMessage(session, claim)) };
  const given = await attestor.attest(session, claim).catch((cause: unknown) => {
    throw new AttestorUnusable(cause instanceof Error ? cause.message : "it failed", cause);
  });
  const signed = { ...claim, signature: given.signature };
  if (isAttestationSigned(session, signed)) return signed;
  throw new AttestorUnusable("it signed another claim", null);
};

/** The present second, never before the session's creation: an attestation from before it is worth nothing. */
export const nowIn = (
  { clock }: Pick<SellerContext, "clock">,
  { createdAt }: KeptSession,
): bigint => {
  const now = BigInt(Math.floor(clock.nowMs() / 1000));
  return now < createdAt ? createdAt : now;
};

/** Has a delivery attested and records it; null when another process was quicker. */
export const recorded = async (
  context: SellerContext,
  session: KeptSession,
  tally: SessionTally,
  { voucher, delivery, intent, status, answer }: StagedCall,
): Promise<CallReceipt | null> => {
  const order = { taskHash: delivery.taskHash, limit: voucher.limit };
  const after = tally.after(order, delivery);
  const attestation = await attested(context, session, after, delivery.deliveredAt, false);
  const receipt = { delivery, attestation };
  if (!(await context.store.append({ voucher, receipt, intent, status }, answer))) return null;
  context.onCall?.(session, delivery.totalAfter);
  return receipt;
};

/** Attests and records what a process staged that ended. This process has the reservation. */
export const finishedStaged = async (
  context: SellerContext,
  session: KeptSession,
): Promise<void> => {
  const { store } = context;
  const { escrow } = session;
  try {
    const stored = await store.find(escrow);
    const staged = stored?.staged ?? null;
    if (stored === null || staged === null) await store.drop(escrow);
    else await recorded(context, session, tallyIn(stored), staged);
  } catch (cause) {
    await store.drop(escrow);
    throw cause;
  }
};

/** Ends what a process began that crashed between a delivery and its record, unless it lives or another one does it. */
export const finished = async (
  context: SellerContext,
  session: KeptSession,
  count: number,
): Promise<void> => {
  const reservation = await context.store.reserve(session.escrow, count);
  if (reservation === "staged") await finishedStaged(context, session);
  else if (reservation === "reserved") await context.store.drop(session.escrow);
};

/** The final attestation of a session, signed with the present time. Only for one whose closing voucher is kept. */
export const attestedFinal = (
  context: Pick<SellerContext, "attestor" | "clock">,
  stored: StoredSession,
): Promise<CallAttestation> =>
  attested(context, stored.session, tallyIn(stored), nowIn(context, stored.session), true);

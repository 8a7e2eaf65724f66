import type { Address } from "../../../core/domain/address.ts";
import { endOf, type Escrow } from "../../../core/domain/escrow/escrow.ts";
import { MAX_ATTESTATION_AGE_SECONDS } from "../../../core/protocol/instructions/attestation.ts";
import type { CallAttestation } from "../../../core/protocol/calls/call-receipt.ts";
import type { CallVoucher } from "../../../core/protocol/calls/call-voucher.ts";
import { cancel } from "../../merchant/settle/cancel.ts";
import type { ClientClock } from "../../service/requests.ts";
import { ACCOUNT_FIRST } from "../../pay/prepared-transaction.ts";
import { SettlementError } from "../../settlement-error.ts";
import type { KeptSession, SessionStore, StoredSession } from "../store/session-store.ts";
import { type CaptureProgress, enough, nothingCaptured } from "./capture-progress.ts";
import type { OwnLedgerView } from "./ledger-view.ts";
import {
  captureSession,
  type PendingCapture,
  releaseSession,
  type SettlingContext,
  type SignedSession,
} from "./settle-session.ts";
import { marginOf } from "./take-session.ts";

/** What captures work with. */
export type CapturesContext = SettlingContext & {
  readonly store: Pick<SessionStore, "unfinished" | "find" | "finish" | "end">;
  readonly view: Pick<OwnLedgerView, "refresh" | "look" | "nowMs">;
  readonly clock: ClientClock;
  /** Signs a session's final attestation; null where no key is. Then, and in a restored store, none is made new. */
  readonly attestFinal: ((stored: StoredSession) => Promise<CallAttestation>) | null;
  /** Base units from which a capture is worth its fee, if a third of the budget is not more. */
  readonly worth: bigint;
  /** Told of what failed and will be tried again. */
  readonly onProblem: (problem: SettlementError, escrow: Address) => void;
};

/** Moves what sessions owe to the merchant. */
export type Captures = {
  /** After a call: captures in the background once enough is owed. `total` is what all calls cost so far. */
  readonly called: (session: KeptSession, total: bigint) => void;
  /** After a closing voucher: releases in the background. */
  readonly closed: (escrow: Address) => void;
  /**
   * Looks at every session that is not ended, and captures, releases and ends what is due. @throws SettlementError
   * `node_unusable`
   */
  readonly round: () => Promise<void>;
  /** What is owed and was not captured, by a look at the ledger. @throws SettlementError `node_unusable` */
  readonly pending: () => Promise<ReadonlyArray<PendingCapture>>;
  /** Captures whatever is owed. @throws SettlementError for the first that failed, once all were tried */
  readonly captureAll: () => Promise<void>;
};

/** How long calls may stay uncaptured, in milliseconds. */
const MOST_UNCAPTURED_MS = 900_000;
/** How long a session is left alone after a failure, in milliseconds. */
const AGAIN_MS = 10_000;
/** How long a landed capture may take to be finalized, in milliseconds. */
const FINAL_MS = 60_000;
/** How long before its margin a session is captured, in seconds: calls come until then, and rounds are apart. */
const BEFORE_MARGIN = 30n;
/** An attestation of this age, in seconds, is made anew before a release: the ledger takes none of 300. */
const MOST_FINAL_AGE = MAX_ATTESTATION_AGE_SECONDS - 60n;
/** Sessions that are settled at once. */
const AT_ONCE = 8;

const totalOf = ({ newest }: StoredSession): bigint =>
  newest === null ? 0n : newest.receipt.attestation.total;

/** What both sides signed of a session's calls, null before the first. */
const signedIn = ({ session, newest }: StoredSession): SignedSession | null =>
  newest && { session, voucher: newest.voucher, attestation: newest.receipt.attestation };

/**
 * A seller's captures: once 1.00 or a third of the budget is owed, whichever is more; after 15 minutes; before the
 * margin at a session's end; as soon as its agent closes it on the ledger; and whenever it is asked for. A session that
 * was closed by a voucher is released. What fails is tried again at the next round.
 */
export const captures = (context: CapturesContext): Captures => {
  const { store, view, clock } = context;
  const all = new Map<Address, CaptureProgress>();

  const progressOf = (escrow: Address): CaptureProgress => {
    const held = all.get(escrow);
    if (held !== undefined) return held;
    const made = nothingCaptured();
    all.set(escrow, made);
    return made;
  };

  const ledgerTime = (): bigint => BigInt(Math.floor(view.nowMs() / 1000));

  /** What is owed, by the ledger and by what landed since. */
  const owedOf = (progress: CaptureProgress, escrow: Escrow, total: bigint): bigint => {
    const isSettled = clock.nowMs() - progress.landedMs > FINAL_MS;
    if (isSettled || escrow.released > progress.captured) progress.captured = escrow.released;
    const owed = total > progress.captured ? total - progress.captured : 0n;
    if (owed === 0n) progress.owedSinceMs = null;
    else progress.owedSinceMs ??= clock.nowMs();
    return owed;
  };

  const isDue = ({ owedSinceMs }: CaptureProgress, escrow: Escrow, owed: bigint): boolean =>
    owed >= enough(escrow.amount, context.worth) ||
    (owedSinceMs !== null && clock.nowMs() - owedSinceMs >= MOST_UNCAPTURED_MS) ||
    escrow.closesAt !== null ||
    ledgerTime() >= endOf(escrow) - marginOf(escrow) - BEFORE_MARGIN;

  const capture = async (escrow: Escrow, stored: StoredSession): Promise<void> => {
    const signed = signedIn(stored);
    if (signed === null) return;
    await captureSession(context, { escrow, signed });
    const progress = progressOf(escrow.address);
    progress.captured = signed.attestation.total;
    progress.landedMs = clock.nowMs();
    progress.owedSinceMs = null;
  };

  /** A final attestation that the ledger takes now; null where none can be had. */
  const finalNow = async (stored: StoredSession): Promise<CallAttestation | null> => {
    const { final } = stored;
    if (final !== null && ledgerTime() - final.timestamp < MOST_FINAL_AGE) return final;
    if (context.attestFinal === null || stored.isRestored) return null;
    const made = await context.attestFinal(stored);
    await store.finish(stored.session.escrow, made);
    return made;
  };

  /** Releases a session that its agent closed. False where that cannot be, and what is owed is to be captured. */
  const release = async (
    escrow: Escrow,
    stored: StoredSession,
    closing: CallVoucher,
  ): Promise<boolean> => {
    const attestation = await finalNow(stored);
    if (attestation === null) return false;
    const signed = { session: stored.session, voucher: closing, attestation };
    const land = () => releaseSession(context, escrow, signed, ledgerTime());
    try {
      await land().catch(async (cause: unknown) => {
        if (!(cause instanceof SettlementError) || cause.code !== ACCOUNT_FIRST) throw cause;
        // A capture is shorter than a release, and makes the merchant's account.
        await capture(escrow, stored);
        await land();
      });
      progressOf(escrow.address).releasedMs = clock.nowMs();
      return true;
    } catch (cause) {
      // Near the end the money comes first.
      if (ledgerTime() < endOf(escrow) - marginOf(escrow)) throw cause;
      return false;
    }
  };

  /** Does what is due for a session, by what the ledger shows of it now. */
  const settleSeen = async (
    { escrow: address, expiresAt }: KeptSession,
    escrow: Escrow | null,
    isForced: boolean,
  ): Promise<void> => {
    const isOver = escrow === null ? ledgerTime() >= expiresAt : escrow.state !== "Pending";
    if (isOver) {
      await store.end(address);
      all.delete(address);
      return;
    }
    if (escrow === null || ledgerTime() >= endOf(escrow)) return;
    const stored = await store.find(address);
    if (stored === null) return;
    const progress = progressOf(address);
    if (clock.nowMs() - progress.releasedMs < FINAL_MS) return;
    const owed = owedOf(progress, escrow, totalOf(stored));
    const { closing } = stored;
    // A total of 0 cannot be released. Without the merchant's wallet the agent closes such a session, or it ends.
    if (closing?.total === 0n && context.payer.publicKey === escrow.merchant) {
      await cancel(context, { escrow: address, wallet: context.payer });
      progress.releasedMs = clock.nowMs();
      return;
    }
    const isReleased =
      closing !== null && closing.total > 0n && (await release(escrow, stored, closing));
    if (isReleased || owed === 0n) return;
    if (isForced || closing !== null || isDue(progress, escrow, owed))
      await capture(escrow, stored);
  };

  /** The same, once at a time for each session. @throws what failed */
  const settle = (
    session: KeptSession,
    isForced: boolean,
    look: () => Promise<Escrow | null>,
  ): Promise<void> => {
    const progress = progressOf(session.escrow);
    const going = (progress.going ?? Promise.resolve())
      .catch(() => undefined)
      .then(async () => settleSeen(session, await look(), isForced))
      .catch((cause: unknown) => {
        progress.notBeforeMs = clock.nowMs() + AGAIN_MS;
        throw cause;
      })
      .finally(() => {
        if (progress.going === going) progress.going = null;
      });
    progress.going = going;
    return going;
  };

  const lookAt = async (escrow: Address): Promise<Escrow | null> =>
    (await view.look([escrow])).get(escrow) ?? null;

  /** Tells of a failure, whatever was thrown: a signer or a store of others may throw anything. */
  const tell = (cause: unknown, escrow: Address): SettlementError => {
    const problem =
      cause instanceof SettlementError
        ? cause
        : new SettlementError(
            "settling_failed",
            `${escrow} could not be settled: ${cause instanceof Error ? cause.message : "unknown"}.`,
            "It is tried again. Mend the signer or the store.",
            { cause },
          );
    context.onProblem(problem, escrow);
    return problem;
  };

  /** In the background. */
  const settleSoon = (session: KeptSession): void => {
    settle(session, false, () => lookAt(session.escrow)).catch((cause: unknown) =>
      tell(cause, session.escrow),
    );
  };

  /** Settles every session that is not ended. Gives the failures. */
  const settleAll = async (isForced: boolean): Promise<ReadonlyArray<SettlementError>> => {
    const sessions = await store.unfinished();
    const seen = await view.refresh(sessions.map(({ escrow }) => escrow));
    const failures: Array<SettlementError> = [];
    for (let at = 0; at < sessions.length; at += AT_ONCE)
      await Promise.all(
        sessions
          .slice(at, at + AT_ONCE)
          .map((session) =>
            settle(session, isForced, () =>
              Promise.resolve(seen.get(session.escrow) ?? null),
            ).catch((cause: unknown) => void failures.push(tell(cause, session.escrow))),
          ),
      );
    return failures;
  };

  return {
    called: (session, total) => {
      const progress = progressOf(session.escrow);
      progress.owedSinceMs ??= clock.nowMs();
      const isEnough = total - progress.captured >= enough(session.amount, context.worth);
      const isWaiting = progress.going !== null || clock.nowMs() < progress.notBeforeMs;
      if (isEnough && !isWaiting) settleSoon(session);
    },
    closed: (escrow) => {
      store.find(escrow).then(
        (stored) => stored && settleSoon(stored.session),
        (cause: unknown) => void tell(cause, escrow),
      );
    },
    round: async () => {
      await settleAll(false);
    },
    pending: async () => {
      const sessions = await store.unfinished();
      const seen = await view.refresh(sessions.map(({ escrow }) => escrow));
      const owing = sessions.map(async ({ escrow: address }) => {
        const [escrow, stored] = [seen.get(address) ?? null, await store.find(address)];
        const signed = stored && signedIn(stored);
        if (escrow?.state !== "Pending" || signed === null || ledgerTime() >= endOf(escrow))
          return [];
        const owed = owedOf(progressOf(address), escrow, signed.attestation.total);
        return owed === 0n ? [] : [{ escrow, signed }];
      });
      return (await Promise.all(owing)).flat();
    },
    captureAll: async () => {
      const [failure] = await settleAll(true);
      if (failure !== undefined) throw failure;
    },
  };
};

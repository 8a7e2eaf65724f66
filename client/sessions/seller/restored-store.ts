import type { Address } from "../../../core/domain/address.ts";
import { SettlementError } from "../../settlement-error.ts";
import type { SessionStore, StoredSession } from "../store/session-store.ts";
import { StoreUnusable } from "./guarded-store.ts";
import type { LookAt } from "./ledger-looks.ts";
import type { Refusal } from "./refusal.ts";
import type { SessionAttestor } from "./session-attestor.ts";

/** What a store is noticed by to be behind what was signed before. */
export type RestoredContext = {
  /** How many deliveries of an escrow the ledger showed at the newest look, 0 where none was made. */
  readonly deliveriesSeen: (escrow: Address) => number;
  /** The ledger's time, milliseconds since 1970. */
  readonly nowMs: () => number;
  readonly onProblem: (problem: SettlementError, escrow: Address) => void;
};

/** Has a store distrust what is in it, and tells why. */
const distrust = async (
  store: Pick<SessionStore, "distrust">,
  { nowMs, onProblem }: Pick<RestoredContext, "nowMs" | "onProblem">,
  escrow: Address,
  proof: string,
): Promise<void> => {
  await store.distrust(BigInt(Math.floor(nowMs() / 1000)) + 1n);
  const cure =
    "Nothing more is signed for the sessions that are open. Let their agents close them; what is owed is captured.";
  onProblem(
    new SettlementError("store_restored", `The store of sessions was put back: ${proof}.`, cure),
    escrow,
  );
};

/**
 * The same store, which takes itself for a restored copy as soon as a session proves it: the agent shows a newer record
 * that both sides signed, or the ledger shows more deliveries. A record is kept before any signature of its call leaves
 * the seller, so that a store that lost nothing is never behind either. What was lost of one session may be lost of all.
 */
export const noticingStore = (store: SessionStore, context: RestoredContext): SessionStore => ({
  ...store,
  adopt: async (head) => {
    const { escrow, count } = head.voucher;
    // First: what follows an end of the process here is a session that is not trusted.
    await distrust(store, context, escrow, `the agent of ${escrow} shows call ${count}`);
    return store.adopt(head);
  },
  find: async (escrow) => {
    const stored = await store.find(escrow);
    const seen = context.deliveriesSeen(escrow);
    const isBehind = stored !== null && (stored.newest?.voucher.count ?? 0) < seen;
    if (!isBehind || stored.isRestored) return stored;
    await distrust(store, context, escrow, `${seen} deliveries of ${escrow} are on the ledger`);
    return { ...stored, isRestored: true };
  },
});

/** The same attestor; what it refuses because it signed further proves that the store was put back. */
export const noticingAttestor = (
  attestor: SessionAttestor,
  store: Pick<SessionStore, "distrust">,
  context: Pick<RestoredContext, "nowMs" | "onProblem">,
): SessionAttestor => ({
  publicKey: attestor.publicKey,
  attest: async (session, claim) => {
    try {
      return await attestor.attest(session, claim);
    } catch (cause) {
      if (cause instanceof SettlementError && cause.code === "attestation_refused")
        await distrust(store, context, session.escrow, cause.message.replace(/\.$/, ""));
      throw cause;
    }
  },
});

/** The beginning of a seller's store at the ledger's finalized time. */
export type StoreBeginning = {
  /** Why the seller answers nothing yet; null once the store has begun. */
  readonly unbegun: () => Promise<string | null>;
  /** Has a store begin that was found to be a copy meanwhile. */
  readonly again: () => Promise<void>;
};

/** Has a store begin, which looks at the ledger only if it is new or a copy. */
export const storeBeginning = (
  store: Pick<SessionStore, "begin">,
  lookAt: LookAt,
): StoreBeginning => {
  let beginning: Promise<string | null> | undefined;
  const begin = (): Promise<string | null> =>
    store
      .begin(async () => {
        const { ledgerTime } = await lookAt([]);
        return ledgerTime;
      })
      .then(() => null)
      .catch((cause: unknown) => {
        beginning = undefined;
        const reason = cause instanceof StoreUnusable ? cause.cause : cause;
        if (reason instanceof SettlementError && reason.code === "node_unusable")
          return reason.message;
        throw cause;
      });
  return {
    unbegun: () => (beginning ??= begin()),
    again: async () => {
      beginning = begin();
      await beginning;
    },
  };
};

/** The refusal of a session of which calls may be missing. Nothing is signed for it, and `head` is captured. */
export const restoredRefusal = ({ newest }: StoredSession): Refusal => ({
  code: "session_restored",
  detail: "This seller's store was restored, and signs nothing for the sessions of before.",
  head: newest,
});

import type { Address } from "../../../core/domain/address.ts";
import type { Escrow, LiveEscrow, StreamedSettlementEvent } from "../../generated/contract.ts";
import { followStream } from "../../pay/settlement-events.ts";
import { addressNamed } from "../../pinned-policy.ts";
import { FORMS } from "../../service/forms.ts";
import { type MerchantContext, readMerchant } from "../merchant-context.ts";
import { escrowsOf, liveEscrow } from "./read-escrows.ts";

/** What an escrow waits for, as a line of `merchant watch`. */
export type Awaited = {
  /**
   * `final`: the index has its events. `confirmed`, where it was asked for: the ledger has confirmed its last event and
   * a fork may still undo it. `retracted`: a fork did; what was said of it as `confirmed` did not happen.
   */
  readonly finality: "confirmed" | "final" | "retracted";
  /**
   * `attestation`: deliver and attest before `ends_at`. `session`: it is open for calls, which the seller that takes
   * them attests and captures before `ends_at`. `cancellation`: its attestor's key was revoked, so only
   * cancelling ends it early. `refund`: too late, anyone may send it back. `nothing`: it is settled.
   */
  readonly awaits: "attestation" | "session" | "cancellation" | "refund" | "nothing";
  readonly escrow: string;
  readonly state: LiveEscrow["state"];
  readonly agent_owner: string;
  readonly mint: string;
  readonly symbol: string | null;
  /** Base units, decimal. */
  readonly amount_stroops: string;
  readonly released_stroops: string;
  readonly refunded_stroops: string;
  /** What the merchant can still be paid: what is left of a session. "0" once settled. */
  readonly left_stroops: string;
  /** How many deliveries are paid for so far. */
  readonly deliveries: number;
  /** The key that signs the vouchers of a session, null for a single payment. */
  readonly session_key: string | null;
  readonly task_hash: string;
  /** The only key that can release it. */
  readonly attestor: string;
  readonly created_at: string;
  readonly expires_at: string;
  /** `expires_at`, or before it the end that the agent set by closing its session. */
  readonly ends_at: string;
};

const awaits = ({ state, session_key, next_actions }: LiveEscrow): Awaited["awaits"] => {
  if (state !== "Pending") return "nothing";
  const can = (action: string) => next_actions.some((each) => each.action === action);
  if (can("release_escrow")) return session_key === null ? "attestation" : "session";
  return can("cancel_escrow") ? "cancellation" : "refund";
};

/** What an escrow waits for, out of its live record. */
const awaitedOf = (record: LiveEscrow, finality: "confirmed" | "final"): Awaited => ({
  awaits: awaits(record),
  finality,
  escrow: record.escrow_pda,
  state: record.state,
  agent_owner: record.agent_owner,
  mint: record.mint,
  symbol: record.symbol,
  amount_stroops: record.amount_stroops,
  released_stroops: record.released_stroops,
  refunded_stroops: record.refunded_stroops,
  left_stroops: record.left_stroops,
  deliveries: record.deliveries,
  session_key: record.session_key,
  task_hash: record.task_hash,
  attestor: record.attestor,
  created_at: record.created_at,
  expires_at: record.expires_at,
  ends_at: record.closes_at ?? record.expires_at,
});

/** The pause between two reads of the index. The index follows the ledger within a second. */
const LOOK_MS = 2_000;
/**
 * Rounds after which open sessions are read from the ledger again, a minute: what is captured and closed is in no
 * event.
 */
const SESSION_ROUNDS = 30;
/** Escrows that are read from the ledger at once. */
const AT_ONCE = 8;

/** What was seen so far. */
type Seen = {
  /** What each escrow waited for when it was last read. */
  readonly latest: Map<string, Awaited>;
  /** The merchant's `revoked_seq`: a revocation changes what older escrows wait for. */
  revokedSeq: string | null;
  /** How often the index was read. */
  rounds: number;
};

/**
 * The escrows whose answer may have changed: new ones, expired ones, those that are open no longer, sessions once a
 * minute, and all after a revocation.
 */
const worthReading = (
  rows: ReadonlyArray<Escrow>,
  { latest, rounds }: Seen,
  isRevoked: boolean,
): ReadonlyArray<string> => {
  const listed = new Map(rows.map((row) => [row.escrow_pda, row]));
  const changed = rows.filter(({ escrow_pda, refundable }) => {
    const before = latest.get(escrow_pda)?.awaits;
    if (before === "session" && rounds % SESSION_ROUNDS === 0) return true;
    return isRevoked || before === undefined || (refundable && before !== "refund");
  });
  const gone = [...latest.values()].filter(
    ({ escrow, awaits }) => awaits !== "nothing" && !listed.has(escrow),
  );
  return [...changed.map(({ escrow_pda }) => escrow_pda), ...gone.map(({ escrow }) => escrow)];
};

const look = async (
  context: MerchantContext,
  merchant: Address,
  seen: Seen,
  signal: AbortSignal | undefined,
): Promise<ReadonlyArray<Awaited>> => {
  const revokedSeq = (await readMerchant(context, merchant, signal))?.revoked_seq ?? null;
  const isRevoked = revokedSeq !== seen.revokedSeq;
  seen.revokedSeq = revokedSeq;
  seen.rounds++;
  const { escrows } = await escrowsOf(context.requests, merchant, { state: "Pending", signal });
  const names = worthReading(escrows, seen, isRevoked);
  const awaited: Array<Awaited> = [];
  for (let at = 0; at < names.length; at += AT_ONCE) {
    const some = names.slice(at, at + AT_ONCE);
    const read = await Promise.all(some.map((name) => liveEscrow(context, name, merchant, signal)));
    awaited.push(...read.filter((each) => each !== null).map((each) => awaitedOf(each, "final")));
  }
  return awaited.filter(({ escrow, awaits, ends_at }) => {
    const before = seen.latest.get(escrow);
    return before?.awaits !== awaits || before.ends_at !== ends_at;
  });
};

/** An event of the stream that is not final: which escrow, and whether a fork undid it. */
type EarlyEvent = { readonly escrow: string; readonly finality: "confirmed" | "retracted" };

/** Early events that wait for their reader, and escrows that were told as confirmed. Others wait until they are final. */
const MOST_EARLY = 1000;

const earlyEventIn = (data: string): EarlyEvent | null => {
  try {
    const { escrow_pda, finality } = JSON.parse(data) as Partial<StreamedSettlementEvent>;
    if (finality !== "confirmed" && finality !== "retracted") return null;
    return FORMS.address.fits(escrow_pda) ? { escrow: escrow_pda, finality } : null;
  } catch {
    return null;
  }
};

/** Follows what is confirmed of a merchant's escrows until the signal is aborted. Without a stream it is silent. */
const earlyEvents = ({ requests }: MerchantContext, merchant: Address, signal: AbortSignal) => {
  let heard: Array<EarlyEvent> = [];
  let wake: (() => void) | null = null;
  const hear = (data: string): void => {
    const event = earlyEventIn(data);
    if (event === null || heard.length >= MOST_EARLY) return;
    heard.push(event);
    wake?.();
  };
  const query = { merchant, commitment: "confirmed" } as const;
  void followStream(requests, query, { hear, joined: () => undefined }, signal).catch(
    () => undefined,
  );
  return {
    take: (): ReadonlyArray<EarlyEvent> => {
      const taken = heard;
      heard = [];
      return taken;
    },
    /** Resolves once there is something to take. */
    next: (): Promise<void> =>
      new Promise((resolve) => {
        wake = resolve;
        if (heard.length > 0) resolve();
      }),
  };
};

/** What an early event makes of an escrow; null for one that is final already, or that was not told of. */
const earlyAwaited = async (
  context: MerchantContext,
  { escrow, finality }: EarlyEvent,
  { wallet, told, signal }: { wallet: Address; told: Map<string, Awaited>; signal: AbortSignal },
): Promise<Awaited | null> => {
  const before = told.get(escrow);
  if (finality === "retracted") {
    told.delete(escrow);
    return before === undefined ? null : { ...before, finality };
  }
  const live = await liveEscrow(context, escrow, wallet, signal);
  if (live === null || told.size >= MOST_EARLY) return null;
  const awaited = awaitedOf(live, finality);
  told.set(escrow, awaited);
  return awaited;
};

/** What `watch` is asked for. */
type Watching = {
  readonly merchant: string;
  /** Ends after the first round. */
  readonly once?: boolean;
  /** Tells of an escrow also as soon as the ledger confirms its event, some 12 seconds before that is final. */
  readonly confirmed?: boolean;
  readonly signal?: AbortSignal;
};

/**
 * Yields what a merchant's escrows wait for: first every open escrow, then each one whenever that or its end changes.
 * With `confirmed` each change comes twice, first as `confirmed`; if a fork undoes it, it comes again as `retracted`.
 * Ends when the signal is aborted or, with `once`, after the first round. @throws SettlementError, and what the signal
 * was aborted with.
 */
export async function* watch(
  context: MerchantContext,
  { merchant, once = false, confirmed = false, signal }: Watching,
): AsyncGenerator<Awaited> {
  const wallet = addressNamed(merchant, "merchant");
  const seen: Seen = { latest: new Map(), revokedSeq: null, rounds: 0 };
  const ended = new AbortController();
  const both = signal === undefined ? ended.signal : AbortSignal.any([signal, ended.signal]);
  const early = confirmed && !once ? earlyEvents(context, wallet, both) : null;
  const told = new Map<string, Awaited>();
  const { clock } = context.requests;
  try {
    for (;;) {
      for (const each of await look(context, wallet, seen, signal)) {
        seen.latest.set(each.escrow, each);
        told.delete(each.escrow);
        yield each;
      }
      if (once) return;
      const pause = clock.pause(LOOK_MS, both);
      const over = pause.then(() => "over" as const);
      over.catch(() => undefined);
      for (;;) {
        const ending = await (early === null ? over : Promise.race([over, early.next()]));
        for (const event of early?.take() ?? []) {
          const awaited = await earlyAwaited(context, event, { wallet, told, signal: both });
          if (awaited !== null) yield awaited;
        }
        if (ending === "over") break;
      }
    }
  } finally {
    ended.abort();
  }
}

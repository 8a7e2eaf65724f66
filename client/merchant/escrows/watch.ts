import type { Address } from "../../../core/domain/address.ts";
import type {
  Escrow,
  EscrowPage,
  EscrowState,
  LiveEscrow,
  StreamedSettlementEvent,
} from "../../generated/contract.ts";
import { followStream } from "../../pay/settlement-events.ts";
import { addressNamed } from "../../pinned-policy.ts";
import { FORMS, MEMBER_FORMS } from "../../service/forms.ts";
import { dataOrNull, requestOf } from "../../service/operation.ts";
import { type Answer, jsonOf, problemOf, type Requests } from "../../service/requests.ts";
import { SettlementError } from "../../settlement-error.ts";
import { type MerchantContext, readMerchant } from "../merchant-context.ts";

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

/** The columns of an export, in this order. */
export const EXPORT_COLUMNS = [
  "escrow_pda",
  "state",
  "agent_owner",
  "merchant",
  "mint",
  "amount_stroops",
  "released_stroops",
  "refunded_stroops",
  "task_hash",
  "proof_hash",
  "attestor",
  "created_at",
  "expires_at",
  "attested_at",
  "settled_at",
  "session_key",
  "deliveries",
  "closes_at",
  "settled_by",
] as const satisfies ReadonlyArray<keyof Escrow>;

/**
 * Those that are null until something happens, and for a single payment. The index does not know what a Pending one has
 * released.
 */
const LATER: ReadonlySet<string> = new Set<keyof Escrow>([
  "released_stroops",
  "deliveries",
  "proof_hash",
  "attested_at",
  "settled_at",
  "session_key",
  "closes_at",
  "settled_by",
]);
const STATES: ReadonlySet<unknown> = new Set<Escrow["state"]>([
  "Pending",
  "Fulfilled",
  "PartiallyFulfilled",
  "Refunded",
]);

/** The failure for an answer that no honest service gives. */
const unsoundEscrow = (detail: string): SettlementError =>
  new SettlementError(
    "unsound_escrow",
    detail,
    "Believe nothing of it, and do not use this service before its operator has explained it.",
  );

/**
 * Checks a service's record of an escrow: it is one of `merchant`, and each exported member has its form. Other texts
 * could become a formula or another row in a spreadsheet.
 * @throws SettlementError `unsound_escrow` for anything else.
 */
const soundRow = <R extends Escrow>(row: R, merchant: Address): R => {
  const given = (typeof row === "object" && row !== null ? row : {}) as Record<string, unknown>;
  const fits = (name: (typeof EXPORT_COLUMNS)[number]): boolean =>
    (LATER.has(name) && given[name] === null) || MEMBER_FORMS[name].fits(given[name]);
  const wrong = STATES.has(given["state"])
    ? EXPORT_COLUMNS.find((name) => !fits(name))
    : ("state" as const);
  if (wrong !== undefined)
    throw unsoundEscrow(`The service gave an escrow whose ${wrong} is malformed.`);
  if (row.merchant !== merchant)
    throw unsoundEscrow(
      `The service gave the escrow ${row.escrow_pda} of the merchant ${row.merchant}.`,
    );
  return row;
};

/** What the index holds of a merchant: its escrows, newest first, and how many archived ones nobody has shown. */
export type IndexedEscrows = {
  readonly escrows: ReadonlyArray<Escrow>;
  readonly unseen: number;
};

/** The most that the index gives in one page. */
const PAGE = 100;

const pageIn = (answer: Answer): EscrowPage => {
  if (answer.status !== 200) throw problemOf(answer);
  const { data, page, index } = (jsonOf(answer) ?? {}) as Partial<EscrowPage>;
  const next = page?.next_cursor;
  if (
    !Array.isArray(data) ||
    (next !== null && !FORMS.cursor.fits(next)) ||
    !FORMS.count.fits(index?.unseen)
  )
    throw unsoundEscrow("The service gave a page of escrows that is none.");
  return { data, page, index } as EscrowPage;
};

/** Every escrow of a merchant that the index holds, of one state where one is named. @throws SettlementError */
export const escrowsOf = async (
  requests: Requests,
  merchant: Address,
  {
    state,
    signal,
  }: { readonly state?: EscrowState; readonly signal?: AbortSignal | undefined } = {},
): Promise<IndexedEscrows> => {
  const byAddress = new Map<string, Escrow>();
  let cursor: string | null = null;
  for (;;) {
    const filter = { merchant, limit: PAGE, ...(state === undefined ? {} : { state }) };
    const query = { ...filter, ...(cursor === null ? {} : { cursor }) };
    const answer = await requests.answer(...requestOf("GET /v1/indexer", query, { signal }));
    const { data, page, index } = pageIn(answer);
    const before = byAddress.size;
    for (const each of data) {
      const row = soundRow(each, merchant);
      byAddress.set(row.escrow_pda, row);
    }
    if (page.next_cursor === null)
      return { escrows: [...byAddress.values()], unseen: index.unseen };
    if (byAddress.size === before)
      throw unsoundEscrow("The service gives page after page without another escrow.");
    cursor = page.next_cursor;
  }
};

/** The pause between two reads of the index. The index follows the ledger within a second. */
const LOOK_MS = 2_000;
/**
 * Rounds after which open sessions are read from the ledger again, a minute: what is captured and closed is in no
 * event.
 */
const SESSION_ROUNDS = 30;
/** Escrows that are read from the ledger at once. */
const AT_ONCE = 8;

/** The merchant's escrow as the ledger has it; null where the service has no bytes of it any more. */
const liveEscrow = async (
  { requests }: MerchantContext,
  escrow: string,
  merchant: Address,
  signal: AbortSignal | undefined,
): Promise<LiveEscrow | null> => {
  const options = { signal, absent: [404, 410] };
  const live = await dataOrNull(requests, "GET /v1/escrows/{pda}", { pda: escrow }, options);
  if (live === null) return null;
  const row = soundRow(live, merchant);
  if (row.escrow_pda === escrow) return row;
  throw unsoundEscrow(`The service gave the escrow ${row.escrow_pda} for ${escrow}.`);
};

/** What was seen so far. */
type Seen = {
  readonly known: Map<string, Awaited>;
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
  { known, rounds }: Seen,
  isRevoked: boolean,
): ReadonlyArray<string> => {
  const listed = new Map(rows.map((row) => [row.escrow_pda, row]));
  const changed = rows.filter(({ escrow_pda, refundable }) => {
    const before = known.get(escrow_pda)?.awaits;
    if (before === "session" && rounds % SESSION_ROUNDS === 0) return true;
    return isRevoked || before === undefined || (refundable && before !== "refund");
  });
  const gone = [...known.values()].filter(
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
    const before = seen.known.get(escrow);
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
  const seen: Seen = { known: new Map(), revokedSeq: null, rounds: 0 };
  const ended = new AbortController();
  const both = signal === undefined ? ended.signal : AbortSignal.any([signal, ended.signal]);
  const early = confirmed && !once ? earlyEvents(context, wallet, both) : null;
  const told = new Map<string, Awaited>();
  const { clock } = context.requests;
  try {
    for (;;) {
      for (const each of await look(context, wallet, seen, signal)) {
        seen.known.set(each.escrow, each);
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

import type { Address } from "../../../core/domain/address.ts";
import type { TrustPolicy } from "../../../core/domain/evidence/evidence-check.ts";
import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
import { merchantAddress } from "../../../core/protocol/addresses/addresses.ts";
import { sessionTerms } from "../../../core/protocol/calls/session-terms.ts";
import type { ClientClock } from "../../service/requests.ts";
import { deploymentIn } from "../../pay/payment-terms.ts";
import { SettlementError } from "../../settlement-error.ts";
import type { KeptSession } from "../store/session-store.ts";
import type { AccountNews } from "./account-news.ts";
import type { LedgerView } from "./seller-context.ts";
import { type LookAt, type LedgerLook, MOST_AT_ONCE, type SeenEscrow } from "./ledger-looks.ts";
import type { Refusal } from "./refusal.ts";
import { marginOf, sessionRefusal, type TakenSessions } from "./take-session.ts";

/** A seller's view of the ledger, kept up to date. */
export type OwnLedgerView = LedgerView & {
  /** The ledger's time, in milliseconds since 1970: that of the newest look, and what has passed since. */
  readonly nowMs: () => number;
  /**
   * Looks at escrows now. Null for one that is not there or archived. @throws SettlementError `node_unusable`
   */
  readonly look: (escrows: ReadonlyArray<Address>) => Promise<ReadonlyMap<Address, Escrow | null>>;
  /** The same, and every session that is known as well. @throws SettlementError `node_unusable` */
  readonly refresh: (
    escrows: ReadonlyArray<Address>,
  ) => Promise<ReadonlyMap<Address, Escrow | null>>;
  /** How many deliveries of an escrow were captured by the newest look, 0 for one that is not known. */
  readonly deliveriesSeen: (escrow: Address) => number;
  /** Stops listening for changes. */
  readonly close: () => void;
};

/** What a seller's view is made of. */
export type ViewOptions = {
  readonly policy: TrustPolicy;
  readonly taken: TakenSessions;
  readonly lookAt: LookAt;
  readonly clock: ClientClock;
  /** What tells of changes at once; null where there is nothing. */
  readonly news: ((changed: (accounts: ReadonlyArray<Address>) => void) => AccountNews) | null;
};

/** A session that is known. */
type Known = {
  readonly session: KeptSession;
  readonly refusal: Refusal | undefined;
  /** That were captured. */
  readonly deliveries: number;
  readonly slot: number;
  /** When it was looked at, by the caller's clock. */
  readonly seenMs: number;
  /** How old that look may become, in milliseconds. */
  readonly mostMs: number;
};

/** Unknown escrows that are looked up at once, so that strangers cannot have a node asked without end. */
const MOST_UNKNOWN_LOOKS = 16;
/** How long what is no session is not looked at again, in milliseconds, and how many of these are remembered. */
const REFUSED_MS = 1_000;
const MOST_REFUSED = 1_000;
/** How long a node that gave no answer is not asked again for calls, in milliseconds. */
const UNREACHED_MS = 2_000;

const outOfReach = (detail: string): Refusal => ({ code: "ledger_out_of_reach", detail });

/**
 * How long a session may go on without a look, in milliseconds: half its margin. An agent that closes it leaves 900
 * seconds, or what is left until its end, and what is owed then must still be captured.
 */
const mostAgeMs = (session: KeptSession): number => Number(marginOf(session)) * 500;

/**
 * A seller's view of the ledger by its own nodes. A session is looked at when its first call comes, and then answered
 * from memory. Whoever makes it calls `refresh` at least every 30 seconds; a session whose last look is older than half
 * its margin is looked at before its next call, which is refused with `ledger_out_of_reach` when no node answers.
 */
export const ledgerView = ({ policy, taken, lookAt, clock, news }: ViewOptions): OwnLedgerView => {
  const known = new Map<Address, Known>();
  const refused = new Map<Address, { readonly refusal: Refusal; readonly untilMs: number }>();
  const underWay = new Map<Address, Promise<Known | Refusal>>();
  let time = { ledgerMs: 0, atMs: 0 };
  let unreachedMs = Number.NEGATIVE_INFINITY;
  const merchantAt = merchantAddress(deploymentIn(policy), taken.merchant).address;

  const nowMs = (): number =>
    time.atMs === 0 ? clock.nowMs() : time.ledgerMs + (clock.nowMs() - time.atMs);

  const told = news?.((accounts) => {
    // A look that fails is made again by the next refresh.
    const changed = accounts.includes(merchantAt) ? [...known.keys()] : accounts;
    lookNow(changed.filter((account) => known.has(account))).catch(() => undefined);
  });

  const keep = (
    address: Address,
    { seen: all, slot, ledgerTime, merchant = null }: LedgerLook,
  ): Known | Refusal => {
    const before = known.get(address);
    // Looks that cross each other: the older one says nothing new.
    if (before !== undefined && before.slot > slot) return before;
    const seen: SeenEscrow = all.get(address) ?? null;
    if (seen === null) {
      // What was a session here can only have been settled and archived.
      known.delete(address);
      told?.forget(address);
      const detail = `${address} is no escrow on the finalized ledger.`;
      return { code: "session_unknown", detail };
    }
    const { escrow, vault } = seen;
    const refusal = sessionRefusal(escrow, { vault, merchant }, taken, ledgerTime);
    const terms = sessionTerms(escrow, policy);
    if (terms === null || (refusal !== undefined && before === undefined))
      return refusal ?? { code: "session_unknown", detail: `${address} is no session.` };
    const { mint, createdAt, expiresAt, deliveries } = escrow;
    const session = { ...terms, network: policy.genesisHash, mint, createdAt, expiresAt };
    const looked = { slot, seenMs: clock.nowMs(), mostMs: mostAgeMs(session) };
    const made = { session, refusal, deliveries, ...looked };
    if (escrow.state === "Pending") {
      known.set(address, made);
      told?.watch(merchantAt);
      told?.watch(address);
    } else {
      known.delete(address);
      told?.forget(address);
    }
    return made;
  };

  /** Looks, and remembers what it shows of the sessions that are known and of `wanted`. */
  const lookNow = async (
    escrows: ReadonlyArray<Address>,
    wanted: Address | null = null,
  ): Promise<ReadonlyArray<LedgerLook>> => {
    const looks: Array<LedgerLook> = [];
    for (let at = 0; at < escrows.length; at += MOST_AT_ONCE) {
      const atMs = clock.nowMs();
      const look = await lookAt(escrows.slice(at, at + MOST_AT_ONCE)).catch((cause: unknown) => {
        unreachedMs = clock.nowMs();
        throw cause;
      });
      unreachedMs = Number.NEGATIVE_INFINITY;
      time = { ledgerMs: Number(look.ledgerTime) * 1000, atMs };
      looks.push(look);
      for (const address of look.seen.keys())
        if (known.has(address) && address !== wanted) keep(address, look);
    }
    return looks;
  };

  const looked = async (
    escrows: ReadonlyArray<Address>,
  ): Promise<ReadonlyMap<Address, Escrow | null>> =>
    new Map(
      (await lookNow(escrows)).flatMap(({ seen }) =>
        Array.from(seen, ([address, each]): [Address, Escrow | null] => [
          address,
          each?.escrow ?? null,
        ]),
      ),
    );

  /** Looks at one escrow for its call; several calls share a look. */
  const lookFor = (escrow: Address): Promise<Known | Refusal> => {
    const going = underWay.get(escrow);
    if (going !== undefined) return going;
    const look = lookNow([escrow], escrow)
      .then(([one]) => (one === undefined ? outOfReach("Nothing was seen.") : keep(escrow, one)))
      .catch((cause: unknown) => {
        if (cause instanceof SettlementError) return outOfReach(cause.message);
        throw cause;
      })
      .finally(() => underWay.delete(escrow));
    underWay.set(escrow, look);
    return look;
  };

  const remember = (escrow: Address, refusal: Refusal): Refusal => {
    if (refusal.code === "ledger_out_of_reach") return refusal;
    const [oldest] = refused.keys();
    if (refused.size >= MOST_REFUSED && oldest !== undefined) refused.delete(oldest);
    refused.set(escrow, { refusal, untilMs: clock.nowMs() + REFUSED_MS });
    return refusal;
  };

  /** The session from a look, old or new. */
  const found = async (escrow: Address): Promise<Known | Refusal> => {
    const held = known.get(escrow);
    const now = clock.nowMs();
    if (held !== undefined && now - held.seenMs <= held.mostMs) return held;
    if (now - unreachedMs < UNREACHED_MS) return outOfReach("No node of the ledger answers.");
    const before = refused.get(escrow);
    if (before !== undefined && now < before.untilMs) return before.refusal;
    refused.delete(escrow);
    if (held === undefined && underWay.size >= MOST_UNKNOWN_LOOKS && !underWay.has(escrow))
      return outOfReach("Too many sessions are looked up at this moment.");
    const shown = await lookFor(escrow);
    return "code" in shown ? remember(escrow, shown) : shown;
  };

  return {
    session: async (escrow) => {
      const shown = await found(escrow);
      if ("code" in shown) return { refusal: shown };
      const { session, refusal } = shown;
      if (refusal !== undefined) return { refusal };
      const leftMs = Number(session.expiresAt - marginOf(session)) * 1000 - nowMs();
      if (leftMs > 0) return { session };
      const detail = `${escrow} ends within ${marginOf(session)} s, and takes no calls any more.`;
      return { refusal: { code: "session_ended", detail } };
    },
    nowMs,
    look: looked,
    refresh: (escrows) => looked([...new Set([...escrows, ...known.keys()])]),
    deliveriesSeen: (escrow) => known.get(escrow)?.deliveries ?? 0,
    close: () => told?.close(),
  };
};

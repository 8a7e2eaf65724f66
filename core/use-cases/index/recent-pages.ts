import { Context, Effect } from "effect";
import type { Escrow } from "../../domain/escrow/escrow.ts";
import { RecentlyUsed } from "../../domain/recently-used.ts";
import type { UnixSeconds } from "../../domain/unix-time.ts";
import type { EscrowCursor, SyncCheckpoint } from "../../../ports/escrow-index.ts";

/** One page of a list, with what it covers. */
export type Page<Row, Cursor> = {
  readonly rows: ReadonlyArray<Row>;
  /** Behind which row the next page begins, null on the last page. */
  readonly next: Cursor | null;
  /** The store's last completed sync, null before the first. */
  readonly checkpoint: SyncCheckpoint | null;
  /** The ledger's clock when the page was read, reckoned from the last sync; null before the first. */
  readonly ledgerTime: UnixSeconds | null;
};

export type EscrowPage = Page<Escrow, EscrowCursor>;

/** Between so many pages and twice as many are kept: at 250 KB of rows and text for the longest, 32 MB at most. */
const PAGES = 64;
/** Of so many pages at least it is known that they were asked for. */
const ASKED_FOR = 1000;
/** A longer page is not kept. */
export const MAX_KEPT_ROWS = 100;

/**
 * The pages of escrows that were read since the store was last written to. Everybody who follows the index asks
 * for the same newest ones.
 */
export class RecentPages extends Context.Service<
  RecentPages,
  {
    /** The page that was read for this key when the store stood at this revision. */
    readonly find: (revision: bigint, key: string) => EscrowPage | undefined;
    /** The checkpoint of the pages that are kept for this revision, undefined when none is. */
    readonly checkpointAt: (revision: bigint) => SyncCheckpoint | null | undefined;
    /**
     * Keeps a page that is asked for the second time: most pages of a long list are asked for once, and keeping those
     * would cost more than it spares. `revision` was asked of the store before the page was.
     */
    readonly keep: (revision: bigint, key: string, page: EscrowPage) => void;
  }
>()("settlement-evidence/core/use-cases/RecentPages") {}

/** The process's one `RecentPages`, of its one store. */
export const makeRecentPages = Effect.sync(() => {
  let keptAt: bigint | null = null;
  let checkpoint: SyncCheckpoint | null = null;
  let pages = new RecentlyUsed<string, EscrowPage>(PAGES);
  let askedFor = new RecentlyUsed<string, true>(ASKED_FOR);
  return RecentPages.of({
    find: (revision, key) => (keptAt === revision ? pages.get(key) : undefined),
    checkpointAt: (revision) => (keptAt === revision ? checkpoint : undefined),
    keep: (revision, key, page) => {
      if (keptAt !== revision) {
        keptAt = revision;
        checkpoint = page.checkpoint;
        pages = new RecentlyUsed(PAGES);
        askedFor = new RecentlyUsed(ASKED_FOR);
      }
      if (askedFor.get(key) === undefined) askedFor.set(key, true);
      else pages.set(key, page);
    },
  });
});

/**
 * Whether a page's escrows can be refunded, or not, at this time just as when it was read. Not when the clock
 * has been set back either.
 */
export const isStillSo = ({ rows, ledgerTime: readAt }: EscrowPage, now: UnixSeconds | null) => {
  if (readAt === null || now === null) return readAt === now;
  const hasExpired = ({ state, expiresAt }: Escrow): boolean =>
    state === "Pending" && expiresAt > readAt && expiresAt <= now;
  return now >= readAt && (now === readAt || !rows.some(hasExpired));
};

import { Context, Effect } from "effect";
import type { Escrow } from "../../domain/escrow/escrow.ts";
import { RecentlyUsed } from "../../domain/recently-used.ts";
import type { UnixSeconds } from "../../domain/unix-time.ts";
import type { SyncMark } from "../../domain/index/sync-report.ts";

/** One page of a list, and the state it was read at. */
export type Page<Row, Cursor> = {
  readonly rows: ReadonlyArray<Row>;
  /** The cursor of the next page, null on the last page. */
  readonly next: Cursor | null;
  /** How far the index is complete, null before the first sync. */
  readonly mark: SyncMark | null;
  /** Archived escrows that are in no list, because nobody has shown their bytes. */
  readonly unseen: number;
  /** The ledger's clock when the page was read, reckoned from the last sync; null before the first. */
  readonly ledgerTime: UnixSeconds | null;
};

/** A page of escrows, newest first; the cursor is the number of a creation. */
export type EscrowPage = Page<Escrow, bigint>;

/** The least number of pages kept; twice as many at most. At 250 KB of rows and text for the longest, 32 MB at most. */
const PAGES = 64;
/** The least number of page keys that are known to have been asked for once. */
const ASKED_FOR = 1000;
/** Longer pages are not kept. */
export const MAX_KEPT_ROWS = 100;

/**
 * The pages of escrows read since the last write to the store. Everybody who follows the index asks for the same newest
 * pages.
 */
export class RecentPages extends Context.Service<
  RecentPages,
  {
    /** The page read for this key at this revision of the store. */
    readonly find: (revision: bigint, key: string) => EscrowPage | undefined;
    /**
     * Keeps a page when it is asked for the second time. Most pages of a long list are asked for once, and keeping them
     * would cost more than it saves. The caller reads `revision` before the page.
     */
    readonly keep: (revision: bigint, key: string, page: EscrowPage) => void;
  }
>()("settlement-evidence/core/use-cases/RecentPages") {}

/** The process's one `RecentPages`, for its one store. */
export const makeRecentPages = Effect.sync(() => {
  let keptAt: bigint | null = null;
  let pages = new RecentlyUsed<string, EscrowPage>(PAGES);
  let askedFor = new RecentlyUsed<string, true>(ASKED_FOR);
  return RecentPages.of({
    find: (revision, key) => (keptAt === revision ? pages.get(key) : undefined),
    keep: (revision, key, page) => {
      if (keptAt !== revision) {
        keptAt = revision;
        pages = new RecentlyUsed(PAGES);
        askedFor = new RecentlyUsed(ASKED_FOR);
      }
      if (askedFor.get(key) === undefined) askedFor.set(key, true);
      else pages.set(key, page);
    },
  });
});

/**
 * Whether the same escrows of a page are refundable at `now` as when it was read. False when the clock was set back.
 */
export const isStillSo = ({ rows, ledgerTime: readAt }: EscrowPage, now: UnixSeconds | null) => {
  if (readAt === null || now === null) return readAt === now;
  const hasExpired = ({ state, expiresAt }: Escrow): boolean =>
    state === "Pending" && expiresAt > readAt && expiresAt <= now;
  return now >= readAt && (now === readAt || !rows.some(hasExpired));
};

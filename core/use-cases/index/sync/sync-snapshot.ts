import { Effect, Stream } from "effect";
import type { Address } from "../../../domain/address.ts";
import {
  EscrowIndex,
  type EscrowCursor,
  type MerchantCursor,
} from "../../../../ports/escrow-index.ts";
import { Instance } from "../../../../ports/instance.ts";
import { Ledger } from "../../../../ports/ledger.ts";
import { gatherArchived } from "./gather-archived.ts";
import type { IndexAccounts } from "./index-accounts.ts";
import { refuseOlder, untrustworthy } from "../../refuse-answer.ts";
import type { SyncMemory } from "./sync-memory.ts";
import { ARCHIVED_ESCROW_LENGTH } from "../../../protocol/accounts/archived-escrow-account.ts";
import { indexedKinds } from "../../../protocol/accounts/indexed-kinds.ts";
import { readProgramAccount } from "../../../protocol/accounts/program-account.ts";

/** The most accounts that the ledger reads in one request. */
const READ_AT_ONCE = 100;
/** The most missing rows of each kind that are checked and reported. */
const MAX_MISSING = 100;
const PAGE = 500;
/** Rows per store transaction: large batches are several times as fast as small ones, and this many fit in memory. */
export const SNAPSHOT_BATCH_ROWS = 10_000;

/** The first stored rows of one kind that the scan did not return. */
const missingFrom = Effect.fnUntraced(function* <Cursor>(
  known: { readonly has: (address: Address) => boolean },
  pageAfter: (
    after: Cursor | null,
  ) => Effect.Effect<
    { readonly addresses: ReadonlyArray<Address>; readonly last: Cursor | undefined },
    StoreFailure
  >,
) {
  const missing: Array<Address> = [];
  for (let after: Cursor | null = null; missing.length < MAX_MISSING;) {
    const page: { readonly addresses: ReadonlyArray<Address>; readonly last: Cursor | undefined } =
      yield* pageAfter(after);
    missing.push(...page.addresses.filter((address) => !known.has(address)));
    if (page.last === undefined) break;
    after = page.last;
  }
  return missing.slice(0, MAX_MISSING);
});
type StoreFailure = Effect.Error<EscrowIndex["Service"]["summary"]>;

/** Stored rows that the scan did not return, at most 100 of each kind. When the counts agree, nothing is searched. */
const missingRows = Effect.fnUntraced(function* (accounts: IndexAccounts) {
  const index = yield* EscrowIndex;
  const stored = yield* index.summary;
  const escrows =
    stored.escrows <= accounts.escrows.valid.size
      ? []
      : yield* missingFrom<EscrowCursor>(accounts.escrows.valid, (after) =>
          Effect.map(index.escrows({}, PAGE, after), (rows) => ({
            addresses: rows.map(({ address }) => address),
            last: rows.at(-1),
          })),
        );
  const merchants =
    stored.merchants <= accounts.merchants.valid.size
      ? []
      : yield* missingFrom<MerchantCursor>(accounts.merchants.valid, (after) =>
          Effect.map(index.merchants({}, PAGE, after), (rows) => ({
            addresses: rows.map(({ merchant }) => merchant.address),
            last: rows.at(-1)?.merchant,
          })),
        );
  return [...escrows, ...merchants];
});

/**
 * The missing rows that are really gone: a second, different read at `finalized` does not find them either. An
 * archived escrow is not gone; its scan was right not to show it.
 * Fails when that read finds one well: then the scan left out accounts that exist, and nothing may be
 * concluded from what it did not show.
 */
const vanishedOf = Effect.fnUntraced(function* (
  missing: ReadonlyArray<Address>,
  notBefore: bigint,
) {
  const ledger = yield* Ledger;
  const { deployment } = yield* Instance;
  const vanished: Array<Address> = [];
  for (let at = 0; at < missing.length; at += READ_AT_ONCE) {
    const asked = missing.slice(at, at + READ_AT_ONCE);
    const { slot, value } = yield* ledger.readAccounts(asked, "finalized");
    yield* refuseOlder(slot, notBefore);
    for (const [i, address] of asked.entries()) {
      const account = value[i] ?? null;
      const read = account === null ? null : readProgramAccount(account, deployment);
      if (read === null) vanished.push(address);
      else if ("value" in read.decoded && read.kind !== "archived_escrow") {
        return yield* untrustworthy(`a scan left out ${address}, which exists`);
      }
    }
  }
  return vanished;
});

/**
 * Reads every merchant, escrow and tombstone and writes them to the index in large store transactions. Returns the lowest
 * slot of all answers, and the stored rows that are gone from the ledger. The index is complete up to `notBefore`, so
 * an answer of an older slot is refused.
 */
export const syncSnapshot = Effect.fn("syncSnapshot")(function* (
  accounts: IndexAccounts,
  memory: SyncMemory,
  notBefore: bigint,
) {
  const ledger = yield* Ledger;
  const index = yield* EscrowIndex;
  const { deployment } = yield* Instance;
  const stored = yield* index.summary;
  const total = stored.escrows + stored.merchants;
  let lowest: bigint | null = null;
  let newest = notBefore;
  for (const kind of indexedKinds(deployment)) {
    // Tombstones come last, and not from before the escrows: nothing that is archived meanwhile is in neither.
    const floor = kind.length === ARCHIVED_ESCROW_LENGTH ? newest : notBefore;
    yield* Stream.runForEach(ledger.programAccounts(kind), ({ slot, value }) =>
      Effect.gen(function* () {
        yield* refuseOlder(slot, floor);
        lowest = lowest === null || slot < lowest ? slot : lowest;
        newest = slot > newest ? slot : newest;
        accounts.gather(slot, value, kind.program);
        yield* gatherArchived(accounts, memory);
        if (accounts.waiting >= SNAPSHOT_BATCH_ROWS) yield* accounts.write();
        const done = accounts.seen;
        memory.progress = { phase: "accounts", done, total: Math.max(done, total) };
      }),
    );
    yield* accounts.write();
  }
  const missing = yield* missingRows(accounts);
  const vanished = yield* vanishedOf(missing, notBefore);
  return { slot: lowest, vanished };
});

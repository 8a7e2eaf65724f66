import { Clock, Effect } from "effect";
import { AddressFingerprints } from "../../../../domain/address-fingerprints.ts";
import type { Address } from "../../../../domain/address.ts";
import type { SyncMark } from "../../../../domain/index/sync-report.ts";
import { indexedKinds, readProgramAccount } from "../../../../protocol/accounts/program-account.ts";
import { IndexReader, type MerchantCursor } from "../../../../../ports/index/index-reader.ts";
import { IndexWriter } from "../../../../../ports/index/index-writer.ts";
import { Instance } from "../../../../../ports/instance.ts";
import { untrustworthy } from "../../../or-ask-another.ts";
import type { IndexAccounts } from "../index-accounts.ts";
import { merchantChanges } from "./follow-merchants.ts";
import { READ_AT_ONCE, readAccountsSince, scanAccounts } from "../ledger/custody-tip.ts";
import type { SyncMemory } from "../ledger/sync-memory.ts";

/** The most missing rows that are checked and reported. */
const MAX_MISSING = 100;
const PAGE = 500;
/** Changes of nothing. */
const NOTHING = { escrows: [], unseen: [], merchants: [], transactions: [], mark: null };

/** Stored merchants that the scan did not return, at most 100. When the counts agree, nothing is searched. */
const missingMerchants = Effect.fnUntraced(function* (known: AddressFingerprints) {
  const index = yield* IndexReader;
  const { merchants } = yield* index.summary;
  const missing: Array<Address> = [];
  if (merchants <= known.size) return missing;
  let after: MerchantCursor | null = null;
  while (missing.length < MAX_MISSING) {
    const page: Effect.Success<ReturnType<typeof index.merchants>> = yield* index.merchants(
      {},
      PAGE,
      after,
    );
    for (const { merchant } of page)
      if (!known.has(merchant.address)) missing.push(merchant.address);
    after = page.at(-1)?.merchant ?? null;
    if (after === null) break;
  }
  return missing.slice(0, MAX_MISSING);
});

/**
 * The missing merchants that are really gone: a second, different read does not find them either. Fails when that read
 * finds one well: then the scan left out accounts that exist, and nothing may be concluded from what it did not show.
 */
const vanishedOf = Effect.fnUntraced(function* (missing: ReadonlyArray<Address>, since: bigint) {
  const { deployment } = yield* Instance;
  const vanished: Array<Address> = [];
  for (let at = 0; at < missing.length; at += READ_AT_ONCE) {
    const asked = missing.slice(at, at + READ_AT_ONCE);
    const { value } = yield* readAccountsSince(asked, since);
    for (const [i, address] of asked.entries()) {
      const account = value[i] ?? null;
      const read = account === null ? null : readProgramAccount(account, deployment);
      if (read === null) vanished.push(address);
      else if ("value" in read.decoded)
        return yield* untrustworthy(`a scan left out ${address}, which exists`);
    }
  }
  return vanished;
});

/**
 * Reads every merchant and writes what is new to the index, which stands at `mark`. Records the time, and returns the
 * stored merchants that are gone from the ledger. Answers of slots below the mark's are refused. Fails like the ledger
 * or the store.
 */
export const scanMerchants = Effect.fn("scanMerchants")(function* (
  accounts: IndexAccounts,
  memory: SyncMemory,
  mark: SyncMark,
) {
  const { deployment } = yield* Instance;
  const { apply } = yield* IndexWriter;
  const kinds = indexedKinds(deployment).filter(
    ({ program }) => program === deployment.attestorProgram,
  );
  const known = new AddressFingerprints();
  yield* scanAccounts(accounts, kinds, mark.slot, ({ merchants: observed }) =>
    Effect.gen(function* () {
      const fresh = observed.filter(({ row }) => !known.has(row.address));
      const merchants = yield* merchantChanges(accounts, fresh);
      for (const { row } of fresh) known.add(row.address);
      if (merchants.length > 0) yield* apply({ ...NOTHING, from: mark.count, merchants });
      memory.progress = { phase: "accounts", done: accounts.read, total: null };
    }),
  );
  memory.told.forgetUpTo(deployment.attestorProgram, mark.slot);
  const vanished = yield* vanishedOf(yield* missingMerchants(known), mark.slot);
  const snapshotAtMs = yield* Clock.currentTimeMillis;
  yield* apply({ ...NOTHING, from: mark.count, snapshotAtMs });
  return vanished;
});

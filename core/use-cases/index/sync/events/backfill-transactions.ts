import { Effect, Result } from "effect";
import { IndexReader } from "../../../../../ports/index/index-reader.ts";
import {
  type BackfillCheckpoint,
  BackfillCheckpoints,
  FIRST_CHECKPOINT,
  IndexWriter,
} from "../../../../../ports/index/index-writer.ts";
import { Instance } from "../../../../../ports/instance.ts";
import { LedgerArchive } from "../../../../../ports/ledger/ledger-archive.ts";
import { Ledger } from "../../../../../ports/ledger/ledger.ts";
import { type EventReference, seqCausedBy } from "../../../../domain/index/settlement-event.ts";
import type { LedgerTransaction } from "../../../../domain/ledger/history.ts";
import { type LedgerSignature, parseLedgerSignature } from "../../../../domain/ledger/signature.ts";
import { custodyConfigAddress } from "../../../../protocol/addresses/addresses.ts";
import { monotonicMs } from "../../../single-flight.ts";
import { START_UNNEEDED } from "../ledger/follow-history.ts";
import { causesWithin, onlySlot } from "./find-event-transactions.ts";

/** Concurrent requests at the start, and at most. */
const FIRST = 4;
const MOST = 32;
/** Wait after a failure, milliseconds. It doubles with each further one, up to `MOST_WAIT_MS`. */
const FIRST_WAIT_MS = 1000;
const MOST_WAIT_MS = 60_000;

/**
 * How much of the node a backfill takes: a little more with each batch that succeeds, half as much after one that
 * fails. After each batch it rests for a quarter of the batch's time, so that other requests are not kept waiting.
 */
export class BackfillPace {
  /** How many requests may run at once. */
  atOnce = FIRST;
  #failures = 0;

  /** Records a batch that succeeded, and returns the rest after it, milliseconds. */
  succeeded(tookMs: number): number {
    this.#failures = 0;
    this.atOnce = Math.min(MOST, this.atOnce + 1);
    return tookMs / 4;
  }

  /** Records a batch that failed, and returns the wait before the next one, milliseconds. */
  failed(): number {
    this.atOnce = Math.max(1, Math.floor(this.atOnce / 2));
    const waitMs = Math.min(MOST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#failures);
    this.#failures += 1;
    return waitMs;
  }
}

/** Fewer events without a transaction are left to the search that each sync makes. */
const WORTH_WALKING = 1000;
/** Escrows asked of the store at once. */
const ROWS_AT_ONCE = 100;
/** Transactions of one batch of the classic way; a checkpoint follows each. */
const BATCH = 200;

/**
 * Writes the transactions of those events that the index holds. Where a history lists slots, each transaction counts in
 * its own one only. A sync that ends meanwhile makes it fail as retryable.
 */
const writeCauses = Effect.fnUntraced(function* (
  transactions: ReadonlyArray<LedgerTransaction>,
  listed?: ReadonlyMap<LedgerSignature, bigint>,
) {
  const index = yield* IndexReader;
  const { apply } = yield* IndexWriter;
  const { mark } = yield* index.summary;
  if (mark === null) return;
  // An archive lists transactions of events that the index does not hold yet.
  const held = transactions.filter(({ slot }) => listed !== undefined || slot <= mark.slot);
  const found = yield* Effect.forEach(held, (one) =>
    causesWithin(one, onlySlot(listed?.get(one.signature) ?? one.slot)),
  );
  // Oldest first, as an archive lists them and a history does not: of several claims of a refund the oldest settled.
  const causes = (listed === undefined ? found : found.toReversed()).flat();
  const addresses = [...new Set(causes.map(({ escrow }) => escrow))];
  const rows = new Map();
  for (let at = 0; at < addresses.length; at += ROWS_AT_ONCE)
    for (const row of (yield* index.escrowsAt(addresses.slice(at, at + ROWS_AT_ONCE))).escrows)
      rows.set(row.address, row);
  const references = causes.flatMap(({ escrow, by, signature, slot }): Array<EventReference> => {
    const row = rows.get(escrow);
    const position = row === undefined ? null : seqCausedBy(row, by);
    return position === null || position > mark.count ? [] : [{ position, signature, slot }];
  });
  if (references.length === 0) return;
  const nothing = { escrows: [], unseen: [], merchants: [], mark: null };
  yield* apply({ ...nothing, from: mark.count, transactions: references });
});

/** Takes the next page of an archive; null where no node offers one. */
const archiveStep = Effect.fnUntraced(function* (cursor: string | null) {
  const { deployment } = yield* Instance;
  const archive = yield* LedgerArchive;
  const { address } = custodyConfigAddress(deployment);
  const page = yield* archive.transactionsOf(address, cursor);
  if (page === null) return null;
  yield* writeCauses(page.transactions);
  const next: BackfillCheckpoint = {
    way: "archive",
    cursor: page.next ?? cursor,
    isDone: page.next === null,
  };
  return next;
});

/** Takes the next page of the classic history, with one request for each transaction, in batches. */
const historyStep = Effect.fnUntraced(function* (
  cursor: string | null,
  pace: BackfillPace,
  save: (checkpoint: BackfillCheckpoint) => Effect.Effect<void>,
) {
  const ledger = yield* Ledger;
  const { deployment } = yield* Instance;
  const before = cursor === null ? null : (parseLedgerSignature(cursor) ?? null);
  const page = yield* ledger.history(
    custodyConfigAddress(deployment).address,
    before,
    START_UNNEEDED,
  );
  for (let at = 0; at < page.entries.length; at += BATCH) {
    const entries = page.entries.slice(at, at + BATCH);
    const found = yield* Effect.forEach(
      entries.filter(({ failed }) => !failed),
      ({ signature }) => ledger.transaction(signature),
      { concurrency: pace.atOnce },
    );
    yield* writeCauses(
      found.filter((one): one is LedgerTransaction => one !== null),
      new Map(entries.map(({ signature, slot }) => [signature, slot])),
    );
    const last = entries.at(-1)?.signature ?? null;
    yield* save({ way: "history", cursor: last, isDone: false });
  }
  const next: BackfillCheckpoint = {
    way: "history",
    cursor: page.entries.at(-1)?.signature ?? cursor,
    isDone: page.entries.length === 0,
  };
  return next;
});

/**
 * Finds the transactions of old events, by walking the history of the custody config, which every event writes to: from
 * an archive where a provider offers one, else with one request for each transaction. Goes on from the stored
 * checkpoint, at a pace that adapts, until the history ends. Does not begin when few events lack their
 * transaction, and walks once after each build of the index. Ends
 * early, and leaves its checkpoint, when the store cannot be written.
 */
export const backfillTransactions = Effect.fn("backfillTransactions")(function* () {
  const index = yield* IndexReader;
  const checkpoints = yield* BackfillCheckpoints;
  const kept = yield* checkpoints.load;
  let now: BackfillCheckpoint = kept ?? FIRST_CHECKPOINT;
  if (kept === null || kept.cursor === null) {
    const lacking = yield* index.events({ withoutTransaction: true }, WORTH_WALKING, { after: 0n });
    if (lacking.length < WORTH_WALKING) return;
  }
  const pace = new BackfillPace();
  while (!now.isDone) {
    const startMs = yield* monotonicMs;
    const { way, cursor } = now;
    const step: Effect.Effect<
      BackfillCheckpoint | null,
      Effect.Error<ReturnType<typeof historyStep>>,
      Effect.Services<ReturnType<typeof historyStep> | ReturnType<typeof archiveStep>>
    > = way === "archive" ? archiveStep(cursor) : historyStep(cursor, pace, checkpoints.save);
    const result = yield* Effect.result(step);
    if (Result.isFailure(result)) {
      const { failure } = result;
      if (failure._tag !== "LedgerTimeout" && !failure.retryable) return yield* failure;
      now = (yield* checkpoints.load) ?? now;
      yield* Effect.sleep(pace.failed());
      continue;
    }
    now = result.success ?? { way: "history", cursor: null, isDone: false };
    yield* checkpoints.save(now);
    yield* Effect.sleep(pace.succeeded((yield* monotonicMs) - startMs));
  }
});

import { Context, Duration, Effect, Layer, Metric } from "effect";
import { monotonicMs } from "../../core/use-cases/single-flight.ts";
import { IndexReader, type IndexSummary, pageReads } from "../../ports/index/index-reader.ts";
import { StoreUnavailable } from "../../ports/index/store-refusal.ts";
import { type IdentityRow, IDENTITY_COLUMNS } from "../sql/ledger-identity.ts";
import { escrowPage, escrowsOfHash } from "./index/escrow-pages.ts";
import { eventPage } from "./index/event-pages.ts";
import { summaryIn } from "./index/ledger-row.ts";
import { registryPage, sameNames } from "./index/merchant-table.ts";
import { storedIdentity } from "./ledger-identity.ts";
import { type DatabaseAddresses, makePostgresStore, PostgresStore } from "./postgres-store.ts";
import { type Queries, rowsOf } from "./queries.ts";

/** The connections to a standby of the database. */
export class StandbyStore extends Context.Service<StandbyStore, PostgresStore["Service"]>()(
  "settlement-evidence/adapters/StandbyStore",
) {}

/** A standby at an address. */
export const standbyStore = (addresses: DatabaseAddresses) =>
  Layer.effect(StandbyStore, makePostgresStore(addresses));

/** How long a standby that fails is left alone, milliseconds. */
const REST_MS = 5000;
/** A page of the primary costs less than waiting any longer. */
const GIVEN_UP_AFTER = Duration.seconds(2);

const count = (from: "standby" | "behind" | "away") =>
  Metric.update(Metric.withAttributes(pageReads, { from }), 1);

type Held = IdentityRow & { readonly mark_count: bigint | null };

const heldBy = async (sql: Queries): Promise<Held | undefined> => {
  const [{ there } = { there: false }] = await rowsOf<{ there: boolean }>(
    sql,
    "SELECT to_regclass('ledger') IS NOT NULL AS there",
  );
  // The primary has made its tables a moment ago.
  if (!there) return undefined;
  const [held] = await rowsOf<Held>(sql, `SELECT ${IDENTITY_COLUMNS}, mark_count FROM ledger`);
  return held;
};

/**
 * The reads of an index whose pages come from a standby. Nothing is older than the count that this process has shown
 * last, which the summary reads from the primary: the standby is asked for its count before each page, and the primary
 * reads the page where the standby lags, fails, or holds another ledger. While the primary is away the standby's
 * summary counts, unless it is older than what was shown.
 */
export const standbyReader: Layer.Layer<
  IndexReader,
  never,
  IndexReader | PostgresStore | StandbyStore
> = Layer.effect(
  IndexReader,
  Effect.gen(function* () {
    const primary = yield* IndexReader;
    const { run: onPrimary } = yield* PostgresStore;
    const { run, label } = yield* StandbyStore;
    let isOpen = false;
    let shown = 0n;
    let restsUntilMs = 0;
    let own: IdentityRow | null = null;

    const ownIdentity = Effect.suspend(() =>
      own === null
        ? Effect.tap(onPrimary(storedIdentity), (stored) =>
            Effect.sync(() => {
              own = stored ?? null;
            }),
          )
        : Effect.succeed(own),
    );
    const rest = (failure: StoreUnavailable) =>
      Effect.flatMap(monotonicMs, (nowMs) => {
        restsUntilMs = nowMs + REST_MS;
        return Effect.logWarning("the standby is not read; the primary is", {
          reason: failure.message,
        });
      });

    /** What work gives on the standby; null where the standby lags, is of another ledger, or rests. */
    const onStandby = <A>(work: (sql: Queries) => Promise<A>) =>
      Effect.gen(function* () {
        // Nobody knows yet whether the database is this ledger's.
        if (!isOpen) return null;
        if ((yield* monotonicMs) < restsUntilMs) return yield* Effect.as(count("away"), null);
        const least = shown;
        const expected = yield* ownIdentity;
        // The count is read first: what a standby shows later is never older.
        const held = yield* run(heldBy);
        if (held === undefined) return yield* Effect.as(count("behind"), null);
        const isOurs =
          held.genesis_hash === expected?.genesis_hash &&
          held.custody_program === expected?.custody_program &&
          held.attestor_program === expected?.attestor_program;
        if (!isOurs)
          return yield* new StoreUnavailable({
            retryable: true,
            cause: "it holds another ledger, or none",
            store: label,
          });
        if ((held.mark_count ?? 0n) < least) return yield* Effect.as(count("behind"), null);
        const outcome = yield* run(work);
        yield* count("standby");
        return { outcome };
      }).pipe(
        Effect.timeoutOrElse({
          duration: GIVEN_UP_AFTER,
          orElse: () =>
            Effect.fail(
              new StoreUnavailable({ retryable: true, cause: "no answer in time", store: label }),
            ),
        }),
        Effect.catch((failure) => Effect.as(Effect.andThen(rest(failure), count("away")), null)),
      );

    /** A page of the standby, or of the primary in its place. */
    const page =
      <Args extends ReadonlyArray<unknown>, A>(
        ofStandby: (sql: Queries, ...args: Args) => Promise<A>,
        ofPrimary: (...args: Args) => Effect.Effect<A, StoreUnavailable>,
      ) =>
      (...args: Args): Effect.Effect<A, StoreUnavailable> =>
        Effect.flatMap(
          onStandby((sql) => ofStandby(sql, ...args)),
          (read) => (read === null ? ofPrimary(...args) : Effect.succeed(read.outcome)),
        );

    const show = (summary: IndexSummary): IndexSummary => {
      isOpen = true;
      const at = summary.mark?.count ?? 0n;
      if (at > shown) shown = at;
      return summary;
    };
    const summary = Effect.map(primary.summary, show).pipe(
      // Known before it is needed: without the primary nobody could tell whose the standby is.
      Effect.tap(() => Effect.ignore(ownIdentity)),
      Effect.catch((failure) =>
        Effect.flatMap(onStandby(summaryIn), (read) =>
          read === null ? Effect.fail(failure) : Effect.succeed(show(read.outcome)),
        ),
      ),
    );
    return IndexReader.of({
      escrows: page(escrowPage, primary.escrows),
      escrowsOfHash: page(escrowsOfHash, primary.escrowsOfHash),
      events: page(eventPage, primary.events),
      merchants: page(registryPage, primary.merchants),
      sameNames: page(sameNames, primary.sameNames),
      // What a request decides by, such as whether an escrow is settled, is always the primary's.
      escrowsAt: primary.escrowsAt,
      summary,
    });
  }),
);

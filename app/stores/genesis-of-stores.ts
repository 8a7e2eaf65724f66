import { Duration, Effect, Schedule } from "effect";
import { Ledger } from "../../ports/ledger/ledger.ts";
import { LedgerRecord } from "../../ports/ledger/ledger-record.ts";
import type { StoreUnavailable } from "../../ports/index/store-refusal.ts";
import { type Cluster, clusterOfGenesis } from "../config/cluster.ts";
import { SILENT_STORE, withoutLedger } from "./hindrances.ts";

const BEFORE_ASKING_AGAIN = Duration.millis(250);
/** How often a store or a node that does not answer is tried again. */
export const ASK_AGAIN = Schedule.spaced(BEFORE_ASKING_AGAIN);
/**
 * How long a node may take to show its genesis hash before the recorded one counts, or before the service says that it
 * waits.
 */
const NODE_PATIENCE = Duration.seconds(2);

/** Work that may take long: `slow` runs when it has taken as long as a node may take. */
const patiently = <A, E, R>(work: Effect.Effect<A, E, R>, slow: Effect.Effect<void>) =>
  Effect.raceFirst(work, Effect.andThen(Effect.delay(slow, NODE_PATIENCE), Effect.never));

/** The genesis hash that a node shows. Tells how that failed. */
const shownBy = (
  { genesisHash }: Ledger["Service"],
  hinderedBy: (hindrance: StoreUnavailable) => Effect.Effect<void>,
) => Effect.tapError(genesisHash, (failure) => hinderedBy(withoutLedger(failure)));

/**
 * The genesis hash of the stores' ledger: the one that a node shows, or the one that the index has recorded when no
 * node shows one within `NODE_PATIENCE`. A hash of another cluster than the configured one does not count: the node
 * decides.
 */
export const genesisOf = <R>(
  {
    cluster,
    recorded,
  }: {
    readonly cluster: Cluster;
    /** The genesis hash that the index has recorded, null when it has none or cannot be read. */
    readonly recorded: Effect.Effect<string | null, never, R>;
  },
  hinderedBy: (hindrance: StoreUnavailable) => Effect.Effect<void>,
) =>
  Effect.gen(function* () {
    const ledger = yield* Ledger;
    const record = yield* LedgerRecord;
    for (;;) {
      const recordedHash = yield* patiently(recorded, hinderedBy(SILENT_STORE));
      const isOurs = recordedHash !== null && clusterOfGenesis(recordedHash) === cluster;
      const answer = isOurs
        ? Effect.timeout(ledger.genesisHash, NODE_PATIENCE)
        : patiently(shownBy(ledger, hinderedBy), hinderedBy(withoutLedger(null)));
      const shown = yield* Effect.orElseSucceed(answer, () => null);
      if (shown !== null) return shown;
      if (isOurs) return yield* record.adopt(recordedHash);
      yield* Effect.sleep(BEFORE_ASKING_AGAIN);
    }
  });

/** Asks until a node shows the ledger that a store has recorded. Tells once of another ledger. */
export const untilShown = Effect.gen(function* () {
  const ledger = yield* Ledger;
  const { state } = yield* LedgerRecord;
  let told = false;
  const tell = Effect.flatMap(state, ({ standing }) => {
    const isNews = standing === "contradicted" && !told;
    told ||= isNews;
    return isNews
      ? Effect.logError("the node serves another ledger than the store's, and is not used")
      : Effect.void;
  });
  yield* ledger.confirmIdentity.pipe(
    Effect.tapError(() => tell),
    Effect.retry(ASK_AGAIN),
    // The schedule never ends, so the effect never fails.
    Effect.orDie,
  );
  yield* Effect.logInfo("a node shows the ledger of the stores");
});

import { Context, Effect, Layer } from "effect";
import { holdTerm } from "../../adapters/postgres/index/write-term.ts";
import {
  PostgresStore,
  postgresStore,
  type DatabaseAddresses,
} from "../../adapters/postgres/postgres-store.ts";
import { syncLeasePostgres } from "../../adapters/postgres/sync-lease.ts";
import type { StoreUnavailable } from "../../ports/index/store-refusal.ts";
import { SyncLease } from "../../ports/index/sync-lease.ts";
import type { History } from "./history.ts";

/** Valid for so long that one is lost at most kills, and now and then without one. */
const TIME_TO_LIVE_MS = 400;
const HOLDERS = 3;

type Outcome<A> = { readonly known: A } | { readonly unknown: true } | { readonly refused: true };

const outcomeOf = <A>(work: Effect.Effect<A, StoreUnavailable>): Promise<Outcome<A>> =>
  Effect.runPromise(
    Effect.match(work, {
      onSuccess: (known): Outcome<A> => ({ known }),
      onFailure: ({ cause }): Outcome<A> =>
        // What `holdTerm` says; whatever else failed may have been done all the same.
        typeof cause === "string" && cause.includes("another replica syncs by now")
          ? { refused: true }
          : { unknown: true },
    }),
  );

/**
 * Holders that take a lease, renew it and write under its term, as the replicas' syncs do, until the function that it
 * returns is called. The lease is one of its own, in the schema that the addresses name.
 */
export const leaseLoad = async (addresses: DatabaseAddresses, history: History) => {
  const object = "lease";
  const end = new AbortController();
  const holder = async (client: number): Promise<void> => {
    const work = Effect.gen(function* () {
      const store = yield* postgresStore(addresses).pipe(
        Layer.build,
        Effect.map((built) => Context.get(built, PostgresStore)),
      );
      const lease = yield* syncLeasePostgres({ timeToLiveMs: TIME_TO_LIVE_MS }).pipe(
        Layer.provide(Layer.succeed(PostgresStore, store)),
        Layer.build,
        Effect.map((built) => Context.get(built, SyncLease)),
      );
      yield* Effect.promise(async () => {
        let epoch: bigint | null = null;
        while (!end.signal.aborted) {
          const held = await history.run(
            client,
            () => outcomeOf(lease.hold),
            (ended) => [
              {
                model: "lease",
                object,
                input: `hold ${client}`,
                output: "known" in ended ? `${ended.known?.epoch ?? "none"}` : "",
              },
            ],
          );
          if ("known" in held && held.known !== null) epoch = held.known.epoch;
          // Also in a term that may be over: it must not count then.
          if (epoch !== null) {
            const written = epoch;
            await history.run(
              client,
              () => outcomeOf(store.transaction((sql) => holdTerm(sql, written))),
              (ended) =>
                "unknown" in ended
                  ? []
                  : [
                      {
                        model: "lease",
                        object,
                        input: `write ${written}`,
                        output: "known" in ended ? "ok" : "refused",
                      },
                    ],
            );
          }
          await Bun.sleep(50 + 100 * client);
        }
      });
    });
    await Effect.runPromise(Effect.scoped(work));
  };
  const running = Promise.all(Array.from({ length: HOLDERS }, (_, client) => holder(client)));
  return async (): Promise<void> => {
    end.abort();
    await running;
  };
};

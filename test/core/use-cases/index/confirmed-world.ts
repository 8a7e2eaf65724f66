import { Effect, Fiber, Layer, Logger, Queue, Stream } from "effect";
import { TestClock } from "effect/testing";
import { indexMemory } from "../../../../adapters/memory/index-store.ts";
import { addressToBytes } from "../../../../core/domain/address.ts";
import { hash32FromBytes } from "../../../../core/domain/hash32.ts";
import { sha256 } from "../../../../core/domain/sha256.ts";
import { eventLeafOf } from "../../../../core/log/leaf/event-leaf.ts";
import { leafHash } from "../../../../core/log/tree/tree-hash.ts";
import {
  ConfirmedEvents,
  makeConfirmedEvents,
} from "../../../../core/use-cases/index/confirmed/confirmed-events.ts";
import {
  followConfirmed,
  type FollowedChange,
} from "../../../../core/use-cases/index/confirmed/follow-confirmed.ts";
import { IndexGrowth, makeIndexGrowth } from "../../../../core/use-cases/index/follow-events.ts";
import { SyncMemory } from "../../../../core/use-cases/index/sync/ledger/sync-memory.ts";
import { custodyConfigAddress } from "../../../../core/protocol/addresses/addresses.ts";
import { ConfirmedHistory, ConfirmedSignals } from "../../../../ports/ledger/confirmed-ledger.ts";
import type { LedgerSignal } from "../../../../ports/ledger/ledger-signals.ts";
import { Instance } from "../../../../ports/instance.ts";
import { Ledger, LedgerNodes } from "../../../../ports/ledger/ledger.ts";
import { noArchive, noNews, nothingKept } from "../../../doubles/nothing-kept.ts";
import { ONE_NODE } from "../../../doubles/one-node.ts";
import { patientClock } from "../../../doubles/patient-clock.ts";
import { pendingOf, worldEscrow } from "../../../simulation/world-escrow.ts";
import { ForkingChain } from "../../../world/forking-chain.ts";
import { ledgerPort, partsOf } from "../../../world/ledger-port.ts";
import { testInstance } from "../test-instance.ts";
import { syncWith } from "./simulated-sync.ts";

/** When a world begins, in Unix milliseconds. */
const START_MS = 1_800_000_000_000;
/** How long a slot lasts. */
export const SLOT = "400 millis";

/** A ledger that forks, a service's index of it, and what its streams tell. */
const worldOf = Effect.gen(function* () {
  yield* TestClock.setTime(START_MS);
  const ledger = new ForkingChain();
  const signals = yield* Queue.unbounded<LedgerSignal>();
  const asked = { lists: 0, transactions: 0, accounts: 0 };
  const state = { isLive: true };
  const port = ledgerPort(partsOf(ledger.view));
  const services = Layer.mergeAll(
    Layer.succeed(Ledger, {
      ...port,
      readAccounts: (...of) => {
        if (of[1] === "confirmed") asked.accounts += 1;
        return port.readAccounts(...of);
      },
    }),
    Layer.succeed(LedgerNodes, ONE_NODE),
    Layer.succeed(Instance, testInstance()),
    Layer.succeed(ConfirmedSignals, {
      changes: Stream.fromQueue(signals),
      standing: Effect.sync(() => ({ isLive: state.isLive, isSilent: false, failures: 0 })),
    }),
    Layer.succeed(ConfirmedHistory, {
      recent: (address) =>
        Effect.sync(() => {
          asked.lists += 1;
          return ledger.current.newestOf(address, ledger.current.slot, null, 1000);
        }),
      transaction: (signature) =>
        Effect.sync(() => {
          asked.transactions += 1;
          return ledger.current.transaction(signature) ?? null;
        }),
    }),
    indexMemory(),
    nothingKept,
    noArchive,
    noNews,
    Logger.layer([]),
  );
  const context = yield* Layer.build(
    Layer.effect(ConfirmedEvents, makeConfirmedEvents).pipe(
      Layer.provideMerge(Layer.effect(IndexGrowth, makeIndexGrowth)),
      Layer.provideMerge(services),
    ),
  );
  const memory = new SyncMemory();
  /** What the ledger has numbered now: the hash of each event's leaf, by its number. */
  const leafAt = (position: bigint): string | undefined => {
    const event = ledger.current.custodyLog.events[Number(position) - 1];
    return (
      event &&
      hash32FromBytes(
        leafHash(eventLeafOf(event.state, addressToBytes(event.address), sha256(event.data))),
      )
    );
  };
  const { deployment } = testInstance();
  /** A node tells of every transaction in this slot, or of those that `isHeard` lets pass. */
  const tell = (isHeard: () => boolean = () => true) =>
    Effect.forEach(
      ledger.current.transactions.filter(({ slot }) => slot === ledger.current.slot),
      ({ signature, slot }) =>
        isHeard()
          ? Queue.offer(signals, {
              signature,
              slot,
              names: custodyConfigAddress(deployment).address,
            })
          : Effect.void,
      { discard: true },
    );
  /** A stream, read for as long as it is not ended. */
  const open = (after: bigint | null = null) =>
    Effect.gen(function* () {
      const heard: Array<FollowedChange> = [];
      const wrong: Array<string> = [];
      const follower = yield* followConfirmed({}, after);
      const reading = yield* Effect.forkChild(
        Effect.gen(function* () {
          for (;;) {
            const changes = yield* follower.next;
            for (const change of changes) {
              heard.push(change);
              const { position, leafHash: leaf } = change.event;
              const isThere = leafAt(position) === leaf;
              if (isThere === (change.finality === "retracted"))
                wrong.push(`${change.finality} ${position} ${leaf}`);
            }
            if (changes.length === 0) yield* follower.grown;
          }
        }),
        { startImmediately: true },
      );
      return {
        heard,
        wrong,
        /** The events that stand for this stream, by their numbers. */
        standing: () => {
          const now = new Map<bigint, string>();
          for (const { finality, event } of heard)
            if (finality !== "retracted") now.set(event.position, event.leafHash);
            else if (now.get(event.position) === event.leafHash) now.delete(event.position);
          return now;
        },
        finals: () => heard.filter(({ finality }) => finality === "final"),
        end: Effect.suspend(() => {
          follower.close();
          return Fiber.interrupt(reading);
        }),
        isOver: () => reading.pollUnsafe() !== undefined,
      };
    }).pipe(Effect.provide(context));
  return {
    ledger,
    asked,
    state,
    signals,
    leafAt,
    tell,
    open,
    sync: syncWith(memory).pipe(Effect.provide(context)),
  };
});

type World = Effect.Success<typeof worldOf>;

/** Runs steps in a world of their own, on virtual time. */
export const run = <A, E>(steps: (world: World) => Effect.Effect<A, E>): Promise<A> =>
  Effect.runPromise(
    Effect.flatMap(worldOf, steps).pipe(Effect.scoped, Effect.provide(patientClock())),
  );

/** Creates an escrow on a fork. */
export const creating =
  (number: number) =>
  (chain: ForkingChain["current"]): void =>
    chain.create([pendingOf(worldEscrow(number))]);
/** Settles an escrow, where this fork has it and it is not one that stays open. */
export const settling =
  (number: number) =>
  (chain: ForkingChain["current"]): void => {
    const row = worldEscrow(number);
    const isOpen = chain.escrows.get(row.address)?.state === "Pending";
    if (isOpen && row.state !== "Pending") chain.settle(row);
  };

/** What a stream has heard: the finality and the number of each event. */
export const told = (stream: { readonly heard: ReadonlyArray<FollowedChange> }) =>
  stream.heard.map(({ finality, event }) => `${finality} ${event.position}`);

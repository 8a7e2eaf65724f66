import { expect, test } from "bun:test";
import { Effect, Fiber, Layer, Logger } from "effect";
import { TestClock } from "effect/testing";
import fc from "fast-check";
import { ESCROW_STATES } from "../../../../core/domain/escrow/escrow.ts";
import { eventLeafOf } from "../../../../core/log/leaf/event-leaf.ts";
import { LogPublisher, type PublisherState } from "../../../../core/use-cases/log/log-publisher.ts";
import {
  type LogStreamReport,
  makeLogStreaming,
} from "../../../../core/use-cases/log/log-streaming.ts";
import {
  makeSettlementLog,
  SettlementLog,
} from "../../../../core/use-cases/log/serving/published-log.ts";
import { StoreUnavailable } from "../../../../ports/index/store-refusal.ts";
import { LogStore } from "../../../../ports/log/log-store.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { TEST_GENESIS_HASH } from "../../../arbitraries/test-ledger.ts";
import { logStreamContract } from "../../../contracts/log-stream.ts";
import { logIdentity } from "../../../doubles/log-identity.ts";
import { type StreamReaction, StreamServer } from "../../../doubles/log-stream.ts";
import { patientClock } from "../../../doubles/patient-clock.ts";
import { testInstance } from "../test-instance.ts";
import { type PublishingWorld, worldOf } from "./publishing-world.ts";

/** Of the states in the order of their numbers. */
const KINDS = ["escrow_created", "escrow_released", "escrow_refunded", "escrow_partially_released"];
const ORIGIN = /^log\.example\/log\/[0-9a-f]{16}\/0$/;

const AWAY: StreamReaction = { takesMs: 0, taken: 0, outcome: "fails" };

const shared = new StreamServer();
logStreamContract("a stream in memory", () => shared.layer);

/** A process that fills streams. */
type StreamingProcess = {
  readonly report: Effect.Effect<LogStreamReport | null>;
  readonly kill: Effect.Effect<void>;
};

/** Runs `work` beside the processes that it begins. They fill a server's streams with the log of a world. */
const streaming = <A>(
  world: PublishingWorld,
  server: StreamServer,
  work: (
    begin: (state?: PublisherState) => Effect.Effect<StreamingProcess>,
  ) => Effect.Effect<A, unknown>,
): Promise<A> => {
  const store = Layer.sync(LogStore, () => ({
    ...world.store,
    standing: Effect.suspend(() => world.store.standing),
    leaves: (from, limit) =>
      Effect.sync(() => world.leaves.slice(Number(from) - 1, Number(from) - 1 + limit)),
  }));
  const base = Layer.mergeAll(
    store,
    server.layer,
    logIdentity(TEST_GENESIS_HASH, testInstance().deployment),
  );
  const begin = (state: PublisherState = "publishing"): Effect.Effect<StreamingProcess> => {
    const status = Effect.succeed({
      state,
      hindrance: null,
      policy: null,
      witnesses: new Map(),
      missing: [],
    });
    const parts = Layer.mergeAll(
      Layer.effect(SettlementLog, makeSettlementLog),
      Layer.mock(LogPublisher, { status }),
    );
    return Effect.gen(function* () {
      const { run, report } = yield* makeLogStreaming;
      const running = yield* Effect.forkDetach(run);
      return { report, kill: Fiber.interrupt(running) };
    }).pipe(Effect.provide(Layer.provideMerge(parts, base)));
  };
  return Effect.runPromise(
    Effect.provide(work(begin), Layer.merge(patientClock(), Logger.layer([]))),
  );
};

/** The stream of the world's only log. */
const streamIn = ({ streams }: StreamServer) => {
  expect(streams.size).toBeLessThanOrEqual(1);
  return [...streams.values()][0] ?? [];
};

const expectLeaves = (server: StreamServer, leaves: ReadonlyArray<Uint8Array>): void => {
  const sent = streamIn(server).map(({ leaf }) => leaf);
  expect(sent.length).toBe(leaves.length);
  expect(Buffer.concat(sent).equals(Buffer.concat(leaves))).toBe(true);
};

const publishOf = (world: PublishingWorld) => Effect.promise(() => world.publish());

const reaction: fc.Arbitrary<StreamReaction> = fc.record({
  takesMs: fc.integer({ min: 0, max: 900 }),
  taken: fc.constantFrom(0, 0.1, 0.5, 1),
  outcome: fc.constantFrom("answers", "answers", "fails", "hangs"),
});

/** What happens to a growing log, two processes that fill its stream, and the server. */
const step = fc.oneof(
  fc.record({ grow: fc.integer({ min: 1, max: 300 }) }),
  fc.record({ kill: fc.integer({ min: 0, max: 1 }) }),
  fc.record({ reactions: fc.array(reaction, { maxLength: 4 }) }),
  fc.record({ lose: fc.integer({ min: 1, max: 40 }) }),
  fc.record({ passMs: fc.integer({ min: 1, max: 7000 }) }),
);

test("two processes that are killed at any moment put each leaf into the stream once, in its place", () =>
  fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const world = worldOf(3);
      const server = new StreamServer();
      const sizes = await streaming(world, server, (begin) =>
        Effect.gen(function* () {
          yield* publishOf(world);
          const processes = [yield* begin(), yield* begin()];
          const expectPrefix = Effect.gen(function* () {
            const size = yield* world.publishedSize;
            const sent = streamIn(server).length;
            expectLeaves(server, world.treeLeaves(size).slice(0, sent));
            return { size, sent };
          });
          const restart = (which: number) =>
            Effect.gen(function* () {
              yield* processes[which]?.kill ?? Effect.void;
              processes[which] = yield* begin();
            });
          for (const each of steps) {
            if ("grow" in each) {
              world.grow(each.grow);
              yield* publishOf(world);
            } else if ("kill" in each) yield* restart(each.kill);
            else if ("reactions" in each) server.reactions.push(...each.reactions);
            else if ("lose" in each) streamIn(server).splice(-each.lose);
            else yield* TestClock.adjust(each.passMs);
            yield* expectPrefix;
          }
          server.reactions = [];
          yield* TestClock.adjust("60 seconds");
          const ended = yield* expectPrefix;
          for (const { report } of processes)
            expect(yield* report).toEqual({ behind: 0, problem: null });
          for (const { kill } of processes) yield* kill;
          return ended;
        }),
      );
      expect(sizes.sent).toBe(sizes.size);
    }),
    runs(12),
  ));

test("entries are the published leaves with the kinds of their events, and nothing beyond", async () => {
  const world = worldOf(0);
  world.leaves = Array.from({ length: 600 }, (_, at) =>
    eventLeafOf(
      ESCROW_STATES[at % 4] ?? "Pending",
      new Uint8Array(32).fill(at % 251),
      new Uint8Array(32).fill(at % 241),
    ),
  );
  const server = new StreamServer();
  await streaming(world, server, (begin) =>
    Effect.gen(function* () {
      yield* begin();
      yield* TestClock.adjust("10 seconds");
      expect(server.streams.size).toBe(0);
      yield* publishOf(world);
      world.grow(50);
      yield* TestClock.adjust("1 second");
      expect(yield* world.publishedSize).toBe(601);
    }),
  );
  expectLeaves(server, world.treeLeaves(601));
  expect([...server.streams.keys()]).toEqual([expect.stringMatching(ORIGIN)]);
  expect(streamIn(server).map(({ kind }) => kind)).toEqual([
    "network",
    ...Array.from({ length: 600 }, (_, at) => KINDS[at % 4] ?? ""),
  ]);
});

test("a replica that does not publish sends nothing, and says that it knows of nothing", async () => {
  const world = worldOf(9);
  await world.publish();
  for (const state of ["standby", "starting"] as const) {
    const server = new StreamServer();
    const report = await streaming(world, server, (begin) =>
      Effect.gen(function* () {
        const { report } = yield* begin(state);
        yield* TestClock.adjust("10 seconds");
        return yield* report;
      }),
    );
    expect(server.streams.size).toBe(0);
    expect(report).toEqual({ behind: null, problem: null });
  }
});

test("a process that does not publish, whose store is not open yet, has no problem with its stream", async () => {
  const world = worldOf(9);
  const standing = Effect.fail(new StoreUnavailable({ retryable: true, cause: "not open yet" }));
  world.store = { ...world.store, standing };
  const report = await streaming(world, new StreamServer(), (begin) =>
    Effect.gen(function* () {
      const { report } = yield* begin("starting");
      yield* TestClock.adjust("3 seconds");
      return yield* report;
    }),
  );
  expect(report).toEqual({ behind: null, problem: null });
});

test("a store that does not answer is no problem of the stream", async () => {
  const world = worldOf(9);
  await world.publish();
  const { store } = world;
  const server = new StreamServer();
  const reports = await streaming(world, server, (begin) =>
    Effect.gen(function* () {
      const { report } = yield* begin();
      yield* TestClock.adjust("1 second");
      world.store = {
        ...store,
        standing: Effect.fail(new StoreUnavailable({ retryable: true, cause: "away" })),
      };
      yield* TestClock.adjust("10 seconds");
      const away = yield* report;
      world.store = store;
      world.grow(5);
      yield* publishOf(world);
      yield* TestClock.adjust("20 seconds");
      return { away, after: yield* report };
    }),
  );
  const well = { behind: 0, problem: null };
  expect(reports).toEqual({ away: well, after: well });
  expect(streamIn(server)).toHaveLength(1 + world.leaves.length);
});

test("a stream with an entry of another history gets nothing more, and the operator is told", async () => {
  const world = worldOf(9);
  await world.publish();
  const server = new StreamServer();
  const reports = await streaming(world, server, (begin) =>
    Effect.gen(function* () {
      const { report } = yield* begin();
      yield* TestClock.adjust("1 second");
      const before = yield* report;
      streamIn(server).push({ kind: "escrow_created", leaf: new Uint8Array(66) });
      world.grow(5);
      yield* publishOf(world);
      yield* TestClock.adjust("20 seconds");
      return { before, after: yield* report };
    }),
  );
  expect(reports.before).toEqual({ behind: 0, problem: null });
  expect(reports.after).toEqual({ behind: 5, problem: "its entry 10 is not the log's" });
  expect(streamIn(server)).toHaveLength(11);
});

test("a server that fails is tried again, and meanwhile the report says how far behind the stream is", async () => {
  const world = worldOf(9);
  await world.publish();
  const server = new StreamServer();
  const reports = await streaming(world, server, (begin) =>
    Effect.gen(function* () {
      const { report } = yield* begin();
      yield* TestClock.adjust("1 second");
      world.grow(4);
      yield* publishOf(world);
      server.reactions = [AWAY, AWAY, AWAY];
      yield* TestClock.adjust("8 seconds");
      const during = [yield* report];
      world.grow(3);
      yield* publishOf(world);
      yield* TestClock.adjust("5 seconds");
      during.push(yield* report);
      yield* TestClock.adjust("20 seconds");
      return { during, after: yield* report };
    }),
  );
  expect(reports.during).toEqual([
    { behind: 4, problem: "it failed" },
    { behind: 7, problem: "it failed" },
  ]);
  expect(reports.after).toEqual({ behind: 0, problem: null });
  expect(streamIn(server)).toHaveLength(17);
});

test("what a stream lacks is told while its server is away, also of what is published meanwhile", async () => {
  const world = worldOf(9);
  await world.publish();
  const server = new StreamServer();
  await streaming(world, server, (begin) =>
    Effect.gen(function* () {
      const { report } = yield* begin();
      yield* TestClock.adjust("1 second");
      expect(yield* report).toEqual({ behind: 0, problem: null });
      server.reactions = Array.from({ length: 40 }, () => AWAY);
      yield* TestClock.adjust("40 seconds");
      expect(yield* report).toEqual({ behind: 0, problem: "it failed" });
      world.grow(7);
      yield* publishOf(world);
      yield* TestClock.adjust("10 seconds");
      expect(yield* report).toEqual({ behind: 7, problem: "it failed" });
      const second = yield* begin();
      yield* TestClock.adjust("1 second");
      expect(yield* second.report).toEqual({ behind: null, problem: "it failed" });
    }),
  );
});

test("each reason why a stream cannot be filled is logged once", async () => {
  const world = worldOf(9);
  await world.publish();
  const server = new StreamServer();
  const reasons: Array<unknown> = [];
  const logger = Logger.make(({ logLevel, message }) => {
    if (logLevel === "Warn") reasons.push((message as ReadonlyArray<unknown>)[1]);
  });
  await streaming(world, server, (begin) =>
    Effect.gen(function* () {
      server.reactions = [AWAY, AWAY];
      yield* Effect.provide(begin(), Logger.layer([logger]));
      yield* TestClock.adjust("12 seconds");
      streamIn(server).push({ kind: "escrow_created", leaf: new Uint8Array(66) });
      world.grow(5);
      yield* publishOf(world);
      server.reactions = [AWAY, AWAY];
      yield* TestClock.adjust("60 seconds");
    }),
  );
  expect(reasons).toEqual([
    { reason: "it failed" },
    { reason: "it failed" },
    { reason: "its entry 10 is not the log's" },
  ]);
});

test("a stream that is ahead of a restored store is left as it is until the log has grown past it", async () => {
  const world = worldOf(9);
  await world.publish();
  const old = world.store;
  const text = await Effect.runPromise(old.standing);
  const server = new StreamServer();
  await streaming(world, server, (begin) =>
    Effect.gen(function* () {
      world.grow(6);
      yield* publishOf(world);
      const first = yield* begin();
      yield* TestClock.adjust("1 second");
      yield* first.kill;
      expect(streamIn(server)).toHaveLength(16);
      const later = world.store;
      world.store = { ...later, standing: Effect.succeed(text) };
      const second = yield* begin();
      yield* TestClock.adjust("5 seconds");
      expect(yield* second.report).toEqual({ behind: 0, problem: null });
      world.store = later;
      world.grow(1);
      yield* publishOf(world);
      yield* TestClock.adjust("5 seconds");
      expectLeaves(server, world.treeLeaves(17));
    }),
  );
});

test("a stream that has lost its end gets it again while the log rests", async () => {
  const world = worldOf(9);
  await world.publish();
  const server = new StreamServer();
  await streaming(world, server, (begin) =>
    Effect.gen(function* () {
      yield* begin();
      yield* TestClock.adjust("2 seconds");
      streamIn(server).splice(-4);
      yield* TestClock.adjust("35 seconds");
      expectLeaves(server, world.treeLeaves(10));
    }),
  );
});

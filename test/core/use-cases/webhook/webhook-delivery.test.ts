import { describe, expect, spyOn, test } from "bun:test";
import { Effect, Redacted } from "effect";
import { TestClock } from "effect/testing";
import { IndexReader } from "../../../../ports/index/index-reader.ts";
import { eventsOf } from "../../../../core/domain/index/settlement-event.ts";
import { webhookHeaders } from "../../../../core/use-cases/webhook/webhook-signature.ts";
import {
  restarted,
  rotated,
  webhookOf,
  webhookText,
} from "../../../../core/use-cases/webhook/webhook.ts";
import { seededRandom } from "../../../arbitraries/seeded-random.ts";
import { NOBODY, type Received, webhook, webhookWorld } from "./webhook-world.ts";

type World = ReturnType<typeof webhookWorld>;

const storedOf = (world: World, number: number) => {
  const { id } = webhook(number);
  const stored = webhookOf({ id, text: world.stored.get(id) ?? "" });
  if (stored === null) throw new Error("it is stored");
  return stored;
};

/** The numbers of the events of lives that a filter passes, ascending. */
const numbersOf = (
  { lives }: World,
  passes: (event: { merchant: string; agentOwner: string }) => boolean = () => true,
) =>
  lives
    .flatMap((life) => {
      const last = life.at(-1);
      if (last === undefined) return [];
      return eventsOf(last).flatMap((event, at) => {
        const number = at === 0 ? last.createdSeq : (last.settledSeq ?? 0n);
        return passes(event) ? [number] : [];
      });
    })
    .sort((a, b) => Number(a - b));

const unique = (numbers: ReadonlyArray<bigint>) =>
  [...new Set(numbers)].sort((a, b) => Number(a - b));

/** Fails unless each escrow's events came in their order, when what came again is left out. */
const expectInOrder = (received: ReadonlyArray<Received>) => {
  for (const [escrow, those] of Map.groupBy(received, ({ host, escrow: of }) => `${host} ${of}`)) {
    const first = [
      ...new Set(those.filter((one) => one.reaction === 204).map((one) => one.position)),
    ];
    expect({ escrow, order: first }).toEqual({
      escrow,
      order: [...first].sort((a, b) => Number(a - b)),
    });
  }
};

const RECEIVER = "receiver-1.example";

describe("events are delivered", () => {
  test("each once and signed, as the index grows, and the position is written down", async () => {
    const world = webhookWorld(1);
    world.put(webhook(1));
    await world.run(function* () {
      yield* world.growTo(5n);
      const { reports } = yield* world.begin(1n);
      yield* TestClock.adjust("3 seconds");
      expect(unique(world.takenBy(RECEIVER))).toEqual([1n, 2n, 3n, 4n, 5n]);
      yield* world.growTo(world.total);
      yield* TestClock.adjust("1 second");
      expect(yield* reports).toEqual([
        {
          id: webhook(1).id,
          delivered: Number(world.total),
          failed: 0,
          behind: 0,
          failingMs: 0,
          isEnded: false,
        },
      ]);
    });
    expect(world.takenBy(RECEIVER).sort((a, b) => Number(a - b))).toEqual(numbersOf(world));
    expectInOrder(world.received);
    expect(storedOf(world, 1).position).toBe(world.total);
    expect(new Set(world.received.map(({ id }) => id)).size).toBe(Number(world.total));
    for (const { id, body, headers } of world.received) {
      expect(id).toMatch(/^wh_0101010101010101-[0-9a-f]{16}-[1-9][0-9]*$/);
      const atSeconds = Number(headers["webhook-timestamp"]);
      const secret = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
      expect(headers).toEqual(webhookHeaders([secret], { id, atSeconds, body }));
    }
  });

  test("a rotated secret signs at once, and the one before it beside it until its time is over and it is dropped", async () => {
    const world = webhookWorld(1);
    const secretOf = (number: number) => Redacted.value(webhook(number).secret);
    const OVERLAP = { nowMs: 0, overlapMs: 60_000 };
    world.put(webhook(1));
    await world.run(function* () {
      yield* world.growTo(2n);
      yield* world.begin(1n);
      yield* TestClock.adjust("5 seconds");
      world.put(rotated(storedOf(world, 1), webhook(2).secret, OVERLAP));
      yield* TestClock.adjust("5 seconds");
      yield* world.growTo(4n);
      expect(storedOf(world, 1).formers).toHaveLength(1);
      yield* TestClock.adjust("60 seconds");
      // It is gone from the store as well, though nothing was sent since.
      expect(storedOf(world, 1).formers).toEqual([]);
      yield* world.growTo(5n);
      yield* TestClock.adjust("5 seconds");
    });
    const [former, next] = [secretOf(1), secretOf(2)];
    const signers = [[former], [former], [next, former], [next, former], [next]];
    expect(world.received.map(({ position }) => position)).toEqual([1n, 2n, 3n, 4n, 5n]);
    for (const [at, { headers, id, body }] of world.received.entries()) {
      const atSeconds = Number(headers["webhook-timestamp"]);
      expect(headers).toEqual(webhookHeaders(signers[at] ?? [], { id, atSeconds, body }));
    }
  });

  test("a former secret is dropped by no clock of the machine alone, which can be set and set back", async () => {
    const world = webhookWorld(1);
    world.put(webhook(1));
    await world.run(function* () {
      yield* world.growTo(world.total);
      const { mark } = yield* Effect.orDie(IndexReader.use(({ summary }) => summary));
      const nowMs = Number(mark?.ledgerTime ?? 0n) * 1000;
      yield* TestClock.setTime(nowMs + 86_400_000);
      yield* world.begin(1n);
      yield* TestClock.adjust("5 seconds");
      world.put(rotated(storedOf(world, 1), webhook(2).secret, { nowMs, overlapMs: 60_000 }));
      yield* TestClock.adjust("30 seconds");
      expect(storedOf(world, 1).formers).toHaveLength(1);
      yield* TestClock.adjust("60 seconds");
      expect(storedOf(world, 1).formers).toEqual([]);
    });
  });

  test("what was taken while a secret's time ends does not come again", async () => {
    const world = webhookWorld(1);
    const formers = [{ secret: webhook(2).secret, untilMs: 0 }];
    world.put(webhook(1, { formers }));
    // The first event's delivery is written down between the look that reads the record and its change.
    spyOn(world.stored, "get").mockImplementationOnce((id) => {
      world.put(webhook(1, { formers, position: 1n }));
      return world.stored.get(id);
    });
    await world.run(function* () {
      yield* world.growTo(3n);
      yield* world.begin(1n);
      yield* TestClock.adjust("10 seconds");
    });
    expect(world.takenBy(RECEIVER)).toEqual([2n, 3n]);
    expect(storedOf(world, 1).formers).toEqual([]);
  });

  test("only those of the filter's merchant and agent, and a filter that passes nothing stays abreast", async () => {
    const world = webhookWorld(2);
    const [first] = world.lives.map(([pending]) => pending);
    if (first === undefined) throw new Error("there are lives");
    const { merchant, agentOwner } = first;
    world.put(
      webhook(1, { merchant }),
      webhook(2, { merchant, agentOwner }),
      webhook(3, { merchant: NOBODY }),
    );
    const reports = await world.run(function* () {
      yield* world.growTo(world.total);
      const delivery = yield* world.begin(1n);
      yield* TestClock.adjust("5 seconds");
      return yield* delivery.reports;
    });
    const sorted = (host: string) => unique(world.takenBy(host));
    expect(sorted(RECEIVER)).toEqual(numbersOf(world, (event) => event.merchant === merchant));
    expect(sorted("receiver-2.example")).toEqual(
      numbersOf(world, (event) => event.merchant === merchant && event.agentOwner === agentOwner),
    );
    expect(sorted("receiver-3.example")).toEqual([]);
    expect(reports.map(({ behind }) => behind)).toEqual([0, 0, 0]);
  });

  test("from now on where no position was given, also over a restart", async () => {
    const world = webhookWorld(3);
    world.put(webhook(1, { position: null }));
    await world.run(function* () {
      const early = yield* Effect.scoped(
        Effect.gen(function* () {
          yield* world.begin(1n);
          // Nothing is there yet: it must not begin at the first event.
          yield* TestClock.adjust("10 seconds");
          yield* world.growTo(4n);
          yield* TestClock.adjust("5 seconds");
          return world.received.length;
        }),
      );
      expect(early).toBe(0);
      expect(storedOf(world, 1).position).toBe(4n);
      yield* world.growTo(world.total);
      yield* world.begin(1n);
      yield* TestClock.adjust("5 seconds");
    });
    expect(unique(world.takenBy(RECEIVER))).toEqual(numbersOf(world).slice(4));
  });

  test("added, restarted and removed while it runs", async () => {
    const world = webhookWorld(4);
    await world.run(function* () {
      yield* world.growTo(world.total);
      const { reports } = yield* world.begin(1n);
      yield* TestClock.adjust("5 seconds");
      world.put(webhook(1, { position: world.total - 1n }));
      yield* TestClock.adjust("5 seconds");
      expect(world.takenBy(RECEIVER)).toEqual([world.total]);
      world.put(restarted(storedOf(world, 1), world.total - 3n));
      yield* TestClock.adjust("5 seconds");
      expect(unique(world.takenBy(RECEIVER).slice(1))).toEqual(numbersOf(world).slice(-3));
      // A replay has the same ids: a receiver that knows them drops it.
      expect(new Set(world.received.map(({ id }) => id)).size).toBe(3);
      world.stored.clear();
      yield* TestClock.adjust("5 seconds");
      expect((yield* reports).map(({ behind }) => behind)).toEqual([null]);
    });
    expect(world.received).toHaveLength(4);
    expect(world.stored.size).toBe(0);
  });
});

describe("a receiver that fails", () => {
  test.each([500, 302, "unreachable", "hangs"] as const)(
    "with %p is tried again, with pauses that double, and nothing passes by it in its escrow",
    async (reaction) => {
      const world = webhookWorld(5);
      world.put(webhook(1), webhook(2));
      let isDown = true;
      const attempts: Array<number> = [];
      world.react = ({ host }) => (isDown && host === RECEIVER ? reaction : 204);
      await world.run(function* () {
        yield* world.growTo(world.total);
        const { reports } = yield* world.begin(1n);
        for (let minute = 0; minute < 60; minute++) {
          const before = world.received.length;
          yield* TestClock.adjust("1 minute");
          const seen = world.received.slice(before).filter(({ host }) => host === RECEIVER);
          attempts.push(seen.length);
        }
        const [own, other] = yield* reports;
        expect(own?.behind).toBe(Number(world.total));
        expect(own?.failed).toBeGreaterThan(5);
        expect(own?.failingMs).toBeWithin(59 * 60_000, 60 * 60_000 + 1);
        // The other receiver does not notice.
        expect(other).toMatchObject({ delivered: Number(world.total), failed: 0, failingMs: 0 });
        isDown = false;
        yield* TestClock.adjust("75 minutes");
        expect((yield* reports)[0]).toMatchObject({ behind: 0, failingMs: 0 });
      });
      const asked = attempts.reduce((sum, one) => sum + one, 0);
      // Pauses of 5, 10, 20, ... seconds: ten attempts within the hour, each of up to eight escrows.
      expect(asked).toBeGreaterThan(8);
      expect(asked).toBeLessThanOrEqual(10 * 8);
      expect(attempts.slice(30).filter((one) => one > 0).length).toBeLessThanOrEqual(2);
      expect(unique(world.takenBy(RECEIVER))).toEqual(numbersOf(world));
      expectInOrder(world.received);
      expect(storedOf(world, 1)).toMatchObject({ failures: 0, failingSinceMs: null, ended: null });
    },
  );

  test("is left alone for as long as its Retry-After says, an hour at most", async () => {
    const world = webhookWorld(6, 2);
    world.put(webhook(1));
    world.react = () => ({ status: 503, retryAfterSeconds: 1800 });
    await world.run(function* () {
      yield* world.growTo(world.total);
      yield* world.begin(1n);
      yield* TestClock.adjust("29 minutes");
      const first = world.received.length;
      yield* TestClock.adjust("2 minutes");
      expect(world.received.length).toBeGreaterThan(first);
      world.react = () => ({ status: 503, retryAfterSeconds: 999_999_999 });
      yield* TestClock.adjust("30 minutes");
      const later = world.received.length;
      yield* TestClock.adjust("61 minutes");
      expect(world.received.length).toBeGreaterThan(later);
    });
  });

  test("with 410 gets nothing more at once, until the operator begins again", async () => {
    const world = webhookWorld(7);
    world.put(webhook(1));
    world.react = ({ position }) => (position === 1n ? 204 : 410);
    await world.run(function* () {
      yield* world.growTo(1n);
      const { reports } = yield* world.begin(1n);
      yield* TestClock.adjust("5 seconds");
      yield* world.growTo(world.total);
      yield* TestClock.adjust("5 seconds");
      const asked = world.received.length;
      yield* TestClock.adjust("3 hours");
      expect(world.received).toHaveLength(asked);
      expect(storedOf(world, 1)).toMatchObject({ ended: "gone", position: 1n });
      expect(yield* reports).toMatchObject([{ isEnded: true, behind: null }]);
      world.react = () => 204;
      world.put(restarted(storedOf(world, 1), 1n));
      yield* TestClock.adjust("5 seconds");
      expect(yield* reports).toMatchObject([{ isEnded: false, behind: 0 }]);
    });
    expect(unique(world.takenBy(RECEIVER))).toEqual(numbersOf(world));
  });

  test("is given up after five days of failures, and not for days in which nobody tried", async () => {
    const world = webhookWorld(8, 3);
    const [hourMs, nowMs] = [3_600_000, 30 * 86_400_000];
    world.put(
      webhook(1, { failures: 120, failingSinceMs: nowMs - 119 * hourMs }),
      // It failed a month ago, and then the service was away.
      webhook(2, { failures: 3, failingSinceMs: 0 }),
    );
    world.react = () => 500;
    await world.run(function* () {
      yield* world.growTo(world.total);
      yield* TestClock.setTime(nowMs);
      yield* world.begin(1n);
      yield* TestClock.adjust("30 minutes");
      expect(storedOf(world, 1)).toMatchObject({ ended: null, failures: 121 });
      yield* TestClock.adjust("3 hours");
      expect(storedOf(world, 1).ended).toBe("failing");
      expect(storedOf(world, 2).ended).toBeNull();
    });
  });
});

describe("of several processes", () => {
  test("the one whose term lasts delivers; the next goes on where it ended", async () => {
    const world = webhookWorld(9);
    world.put(webhook(1));
    await world.run(function* () {
      yield* world.growTo(6n);
      const first = yield* world.begin(1n);
      const second = yield* world.begin(2n);
      yield* TestClock.adjust("5 seconds");
      expect([(yield* first.reports).length, (yield* second.reports).length]).toEqual([1, 0]);
      world.term = 2n;
      yield* world.growTo(world.total);
      yield* TestClock.adjust("5 seconds");
      expect((yield* second.reports)[0]).toMatchObject({ delivered: Number(world.total) - 6 });
      expect((yield* first.reports)[0]).toMatchObject({ delivered: 6, behind: null });
    });
    expect(world.takenBy(RECEIVER)).toHaveLength(Number(world.total));
    expectInOrder(world.received);
  });
});

test("of processes that are killed at any moment nothing is lost, and nothing comes out of order", async () => {
  for (let seed = 1; seed <= 5; seed++) {
    const random = seededRandom(seed);
    const world = webhookWorld(seed, 20);
    world.put(webhook(1), webhook(2, { merchant: world.lives[0]?.[0].merchant ?? null }));
    world.takesMs = 7;
    world.react = () => (random() < 0.1 ? 500 : 204);
    await world.run(function* () {
      let count = 0n;
      for (let kill = 0; kill < 20; kill++) {
        count = BigInt(Math.min(Number(world.total), Number(count) + Math.floor(random() * 5)));
        yield* world.growTo(count);
        yield* Effect.scoped(
          Effect.andThen(world.begin(1n), TestClock.adjust(Math.floor(random() * 40))),
        );
      }
      yield* world.growTo(world.total);
      yield* world.begin(1n);
      yield* TestClock.adjust("2 hours");
    });
    expect({ seed, taken: unique(world.takenBy(RECEIVER)) }).toEqual({
      seed,
      taken: numbersOf(world),
    });
    expectInOrder(world.received);
    expect(storedOf(world, 1).position).toBe(world.total);
  }
});

test("a record of another version is left alone and told, and others are delivered", async () => {
  const world = webhookWorld(10);
  world.put(webhook(1));
  world.stored.set("wh_another", webhookText(webhook(2)));
  await world.run(function* () {
    yield* world.growTo(world.total);
    yield* world.begin(1n);
    yield* TestClock.adjust("5 seconds");
  });
  expect(unique(world.takenBy(RECEIVER))).toEqual(numbersOf(world));
  expect(world.stored.has("wh_another")).toBe(true);
});

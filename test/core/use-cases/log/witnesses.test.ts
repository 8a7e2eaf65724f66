import { expect, test } from "bun:test";
import { Duration, Effect } from "effect";
import { TestClock } from "effect/testing";
import { parseCheckpoint } from "../../../../core/log/checkpoint/checkpoint.ts";
import type { PolicyGroup } from "../../../../core/log/policy/log-policy.ts";
import { printTlogSize, TLOG_SIZE_TYPE } from "../../../../core/log/witness/add-checkpoint.ts";
import { notedCosignatures } from "../../../../core/log/policy/noted-cosignatures.ts";
import type { LogHindrance } from "../../../../core/use-cases/log/log-standing.ts";
import type { PublisherStatus } from "../../../../core/use-cases/log/log-publisher.ts";
import { WitnessUnreachable } from "../../../../ports/log/log-source.ts";
import { type PublishingWorld, worldOf } from "./publishing-world.ts";
import { answers, type Habit, soundly, withWitnesses } from "./test-witness.ts";

const any = (threshold: number, members: ReadonlyArray<string>, name = "any"): PolicyGroup => ({
  name,
  threshold,
  members,
});

const THREE = ["w0.example", "w1.example", "w2.example"];

/** Publishes a world's newest mark for some seconds, and says what hinders it then. */
const after = async (world: PublishingWorld, seconds: number) => {
  let status: PublisherStatus | undefined;
  await world.run((publisher) =>
    Effect.gen(function* () {
      yield* publisher.grown(world.mark());
      yield* TestClock.adjust(Duration.seconds(seconds));
      status = yield* publisher.status;
    }),
  );
  const size = await Effect.runPromise(world.publishedSize);
  return { size, hindrance: status?.hindrance as LogHindrance | null, records: status?.witnesses };
};

test("a checkpoint is published with the cosignatures of its quorum behind the log's", async () => {
  const world = worldOf(20);
  withWitnesses(world, [soundly, soundly], "any", [any(2, ["w0.example", "w1.example"])]);
  expect(await after(world, 1)).toMatchObject({ size: 21, hindrance: null });
  const standing = await Effect.runPromise(world.standing);
  const parsed = parseCheckpoint(standing?.published ?? "");
  if ("fault" in parsed) throw new Error(parsed.fault);
  const names = parsed.value.note.signatures.map(({ name }) => name);
  expect(names[0]).toBe(parsed.value.checkpoint.origin);
  expect(names.slice(1).toSorted()).toEqual(["w0.example", "w1.example"]);
  const { policy } = world;
  if (policy === null) throw new Error("the world has a policy");
  const times = notedCosignatures(parsed.value.note, policy);
  expect(times.map(({ name }) => name).toSorted()).toEqual(["w0.example", "w1.example"]);
  for (const { time } of times) expect(time).toBeGreaterThan(0n);
  expect(notedCosignatures({ ...parsed.value.note, signatures: [] }, policy)).toEqual([]);
});

test("a witness that cosigned another size gets the proof from that size at once", async () => {
  const world = worldOf(20);
  const [witness] = withWitnesses(world, [soundly], "w0.example");
  if (witness !== undefined) witness.size = 9;
  expect(await after(world, 0)).toMatchObject({ size: 21, hindrance: null });
  expect(witness?.asked).toEqual([21, 21]);
});

test("a group's quorum is met without the witnesses that are away, slow or senseless", async () => {
  const world = worldOf(20);
  const habits = [
    soundly,
    () => Effect.fail(new WitnessUnreachable({ reason: "refused" })),
    answers(200, "no signature\n"),
    () => Effect.never,
    soundly,
  ];
  const members = habits.map((_, place) => `w${place}.example`);
  withWitnesses(world, habits, "all", [
    any(1, members.slice(0, 2), "one"),
    any(1, members.slice(2), "other"),
    any(2, ["one", "other"], "all"),
  ]);
  const { size, hindrance, records } = await after(world, 1);
  expect({ size, hindrance }).toEqual({ size: 21, hindrance: null });
  expect(records?.get("w2.example")).toMatchObject({ nonsense: 1, size: 0 });
  expect(records?.get("w1.example")).toMatchObject({ nonsense: 0, lastProblem: "refused" });
});

test("one operator's two witnesses do not make a quorum of two operators", async () => {
  const world = worldOf(20);
  withWitnesses(world, [soundly, soundly, answers(503)], "all", [
    any(1, ["w0.example", "w1.example"], "one"),
    any(2, ["one", "w2.example"], "all"),
  ]);
  // Never that enough cosign.
  for (const seconds of [20, 70])
    expect(await after(world, seconds)).toMatchObject({ size: 0, hindrance: "quorum_missing" });
});

test.each([
  ["no text of signatures", answers(200, "zzz")],
  ["an empty answer", answers(200, "")],
  ["a signature of nobody", answers(200, "— other.example AAAAAAAAAAAAAAAAAAAAAA==\n")],
  ["a size that is no number", answers(409, "x\n", TLOG_SIZE_TYPE)],
])("%s is nonsense, counted, and asked again every two seconds", async (_, habit) => {
  const world = worldOf(20);
  const [witness] = withWitnesses(world, [habit], "w0.example");
  const { size, records } = await after(world, 59);
  expect(size).toBe(0);
  expect(records?.get("w0.example")?.nonsense).toBe(30);
  expect(witness?.asked.length).toBe(30);
});

test("a witness whose size changes with every answer is not asked faster for it", async () => {
  const world = worldOf(20);
  const [witness] = withWitnesses(
    world,
    [(request) => answers(409, printTlogSize((request % 5) + 1), TLOG_SIZE_TYPE)(request)],
    "w0.example",
  );
  await after(world, 59);
  expect(witness?.asked.length).toBeLessThanOrEqual(60);
});

test("a witness whose node is behind (503) is asked after half a second, one and two until it cosigns", async () => {
  const world = worldOf(20);
  const [witness] = withWitnesses(
    world,
    [(request) => (request < 4 ? answers(503)(request) : soundly(request))],
    "w0.example",
  );
  expect(await after(world, 3)).toMatchObject({ size: 0 });
  expect(witness?.asked.length).toBe(3);
  if (witness !== undefined) witness.asked = [];
  expect(await after(world, 4)).toMatchObject({ size: 21, hindrance: null });
});

test("a witness that stays away is logged once with the reason, and once when it is back", async () => {
  const world = worldOf(20);
  const refused = () => Effect.fail(new WitnessUnreachable({ reason: "refused" }));
  const habits = [soundly, (request: number) => (request < 20 ? refused() : soundly(request))];
  withWitnesses(world, habits, "w0.example");
  const lines: Array<unknown> = [];
  world.logged = (text, details) => {
    if (String(text).includes("witness")) lines.push([text, details]);
  };
  const away = { witness: "w1.example", url: "http://w1.example", reason: "refused" };
  await world.run(function* ({ grown }) {
    yield* grown(world.mark());
    yield* TestClock.adjust("25 seconds");
    expect(lines).toEqual([]);
    yield* TestClock.adjust("3 minutes");
    expect(lines).toEqual([
      ["a witness of the log does not cosign", expect.objectContaining(away)],
    ]);
    yield* TestClock.adjust("30 minutes");
    expect(lines.slice(1)).toEqual([["the witness cosigns again", { witness: "w1.example" }]]);
  });
});

test("one checkpoint is offered for 60 seconds, then the newest has its turn", async () => {
  const world = worldOf(30);
  const [witness] = withWitnesses(world, [answers(503)], "w0.example");
  await world.run(function* ({ grown, status }) {
    yield* grown(world.mark(10));
    yield* TestClock.adjust("1 second");
    for (const count of [20, 30]) {
      yield* grown(world.mark(count));
      yield* TestClock.adjust("20 seconds");
    }
    expect(new Set(witness?.asked)).toEqual(new Set([11]));
    yield* TestClock.adjust("30 seconds");
    expect((yield* status).hindrance).toBe("quorum_missing");
    expect(new Set(witness?.asked)).toEqual(new Set([11, 31]));
  });
  // Signing goes on meanwhile, for witnesses whose node is ahead.
  expect(new Set(world.signed.map(({ size }) => size))).toEqual(new Set([11, 21, 31]));
});

test("an unchanged checkpoint is offered again after ten minutes, however many syncs there are", async () => {
  const world = worldOf(20);
  const [witness] = withWitnesses(world, [soundly], "w0.example");
  await world.run(function* ({ grown }) {
    for (let minute = 0; minute < 25; minute++) {
      yield* grown(world.mark());
      yield* TestClock.adjust("1 minute");
    }
  });
  expect(witness?.asked).toEqual([21, 21, 21]);
});

test("without new marks it is offered again as well", async () => {
  const world = worldOf(20);
  const [witness] = withWitnesses(world, [soundly], "w0.example");
  await after(world, 25 * 60);
  expect(witness?.asked).toEqual([21, 21, 21]);
});

test("without a quorum a checkpoint waits five seconds for its witnesses, and no longer", async () => {
  const world = worldOf(20);
  withWitnesses(world, [soundly, () => Effect.never], null);
  expect(await after(world, 4)).toMatchObject({ size: 0 });
  expect(await after(world, 6)).toMatchObject({ size: 21, hindrance: null });
  const standing = await Effect.runPromise(world.standing);
  expect(standing?.published).toContain("— w0.example ");
});

test("what a witness wrote is cut to 100 printable characters in the status", async () => {
  const world = worldOf(20);
  withWitnesses(
    world,
    [answers(409, `\u001B[2J${"x".repeat(5000)}\n`, TLOG_SIZE_TYPE)],
    "w0.example",
  );
  const { records } = await after(world, 1);
  expect(records?.get("w0.example")?.lastProblem).toBe(
    `it states to have cosigned another size: [2J${"x".repeat(97)}`,
  );
});

/** The names behind the log's own in the published checkpoint; null for none. */
const publishedNames = (world: PublishingWorld) =>
  Effect.map(world.standing, (standing) => {
    const parsed = parseCheckpoint(standing?.published ?? "");
    return "fault" in parsed ? null : parsed.value.note.signatures.slice(1).map(({ name }) => name);
  });

test("the witnesses beyond the quorum are asked on, and the same size gains their cosignatures", async () => {
  const world = worldOf(20);
  const [, , late] = withWitnesses(world, [soundly, soundly, answers(503)], "two", [
    any(2, THREE, "two"),
  ]);
  await world.run(function* ({ grown, status }) {
    yield* grown(world.mark());
    yield* TestClock.adjust("1 second");
    const before = (yield* world.standing)?.published ?? "";
    expect(yield* publishedNames(world)).toEqual(THREE.slice(0, 2));
    yield* TestClock.adjust("20 seconds");
    if (late !== undefined) late.habit = soundly;
    yield* TestClock.adjust("1 minute");
    expect(yield* publishedNames(world)).toEqual(THREE);
    expect((yield* world.standing)?.published).toStartWith(before);
    expect(yield* status).toMatchObject({ hindrance: null, missing: [] });
    // Ten minutes later one of them is away: its line stays.
    if (late !== undefined) late.habit = answers(503);
    yield* TestClock.adjust("10 minutes");
    expect(yield* publishedNames(world)).toEqual(THREE);
  });
});

test("two of three witnesses that do not answer are named, and so is one while the quorum is met", async () => {
  const world = worldOf(30);
  const witnesses = withWitnesses(
    world,
    [soundly, () => Effect.fail(new WitnessUnreachable({ reason: "refused" })), answers(503)],
    "one",
    [any(1, THREE, "one")],
  );
  await world.run(function* ({ grown, status }) {
    yield* grown(world.mark(10));
    yield* TestClock.adjust("20 seconds");
    expect(yield* world.publishedSize).toBe(11);
    expect(yield* status).toMatchObject({
      hindrance: "witness_missing",
      missing: ["w1.example", "w2.example"],
    });
    // They do not hold up the next checkpoint.
    yield* grown(world.mark(20));
    yield* TestClock.adjust("1 second");
    expect(yield* world.publishedSize).toBe(21);
    for (const witness of witnesses) witness.habit = soundly;
    yield* grown(world.mark(30));
    yield* TestClock.adjust("20 seconds");
    expect(yield* status).toMatchObject({ hindrance: null, missing: [] });
  });
});

test("witnesses that cosigned more than a restored log has stop it, until its tree has come that far", async () => {
  const world = worldOf(60);
  const witnesses = withWitnesses(world, [soundly, soundly, soundly], "two", [
    any(2, THREE, "two"),
  ]);
  await world.publish([50]);
  expect(await Effect.runPromise(world.publishedSize)).toBe(51);
  // The store and the file beside the key are those of a backup, taken before anything was signed.
  const restored = worldOf(60);
  Object.assign(restored, { policy: world.policy, witness: world.witness });
  await restored.run(function* ({ grown, status }) {
    yield* grown(restored.mark(20));
    yield* TestClock.adjust("5 seconds");
    expect(yield* status).toMatchObject({ hindrance: "witnesses_ahead" });
    expect((yield* status).witnesses.get("w0.example")).toMatchObject({
      nonsense: 0,
      lastProblem: "it has cosigned size 51, and this log has less",
    });
    for (const count of [30, 40, 49]) {
      yield* grown(restored.mark(count));
      yield* TestClock.adjust("5 seconds");
    }
    expect(new Set(restored.signed.map(({ size }) => size))).toEqual(new Set([21]));
    yield* grown(restored.mark(60));
    yield* TestClock.adjust("5 seconds");
    expect(yield* status).toMatchObject({ hindrance: null });
    expect(yield* restored.publishedSize).toBe(61);
  });
  expect(witnesses.map(({ size }) => size)).toEqual([61, 61, 61]);
});

test("one witness of three that states any size does not stop a log whose quorum the others make", async () => {
  const world = worldOf(20);
  withWitnesses(world, [soundly, soundly, answers(409, "99999\n", TLOG_SIZE_TYPE)], "two", [
    any(2, THREE, "two"),
  ]);
  await world.run(function* ({ grown, status }) {
    for (const count of [10, 20]) {
      yield* grown(world.mark(count));
      yield* TestClock.adjust("15 seconds");
    }
    expect(yield* world.publishedSize).toBe(21);
    expect(yield* status).toMatchObject({
      hindrance: "witness_missing",
      missing: ["w2.example"],
    });
  });
});

test("another policy is taken without a restart: the same checkpoint gains the new witness's line", async () => {
  const world = worldOf(20);
  const witnesses = withWitnesses(world, [soundly, soundly], "w0.example");
  const { policy } = world;
  if (policy === null) throw new Error("the world has a policy");
  world.policy = { ...policy, witnesses: policy.witnesses.slice(0, 1) };
  await world.run(function* ({ grown, setPolicy, status }) {
    yield* grown(world.mark());
    yield* TestClock.adjust("5 seconds");
    expect(yield* publishedNames(world)).toEqual(["w0.example"]);
    yield* setPolicy(policy);
    yield* TestClock.adjust("1 second");
    expect(yield* publishedNames(world)).toEqual(["w0.example", "w1.example"]);
    expect((yield* status).policy?.witnesses).toHaveLength(2);
  });
  expect(witnesses.map(({ size }) => size)).toEqual([21, 21]);
});

/** One witness that looks at a ledger, and one of this habit, whose quorum is awaited. */
const worldAwaiting = (habit: Habit) => {
  const world = worldOf(20);
  const witnesses = withWitnesses(world, [soundly, habit], "w0.example");
  if (world.policy !== null) world.policy = { ...world.policy, awaited: "w1.example" };
  return { world, awaited: witnesses[1] };
};

test.each<[string, Habit, ReadonlyArray<number>, ReadonlyArray<string>]>([
  [
    "waits a second for the awaited quorum of a witness that is silent, and is published without",
    () => Effect.never,
    [900, 200],
    ["w0.example"],
  ],
  [
    "is first published with the cosignature of a witness that is awaited and answers",
    (request) => Effect.delay(soundly(request), 300),
    [200, 200],
    ["w0.example", "w1.example"],
  ],
])("a checkpoint %s", async (_, habit, waits, cosigners) => {
  const { world } = worldAwaiting(habit);
  const published: Array<unknown> = [];
  await world.run(function* ({ grown }) {
    yield* grown(world.mark());
    for (const ms of waits) {
      yield* TestClock.adjust(ms);
      published.push(yield* publishedNames(world));
    }
  });
  expect(published).toEqual([null, cosigners]);
});

test("a dead witness whose quorum is awaited delays nothing, and is named", async () => {
  const dead = () => Effect.fail(new WitnessUnreachable({ reason: "refused" }));
  const { world, awaited } = worldAwaiting(dead);
  let status: PublisherStatus | undefined;
  await world.run((publisher) =>
    Effect.gen(function* () {
      yield* publisher.grown(world.mark());
      yield* TestClock.adjust(100);
      expect(yield* publishedNames(world)).toEqual(["w0.example"]);
      yield* TestClock.adjust("15 seconds");
      status = yield* publisher.status;
      if (awaited !== undefined) awaited.habit = soundly;
      yield* TestClock.adjust("1 minute");
    }),
  );
  expect(status).toMatchObject({ hindrance: "witness_missing", missing: ["w1.example"] });
  expect(await Effect.runPromise(publishedNames(world))).toEqual(["w0.example", "w1.example"]);
});

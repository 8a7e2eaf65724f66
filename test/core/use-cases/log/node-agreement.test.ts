import { expect, test } from "bun:test";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import { custodyConfigAccount } from "../../../doubles/custody-config.ts";
import { someLeaves } from "../../log/support/reference-tree.ts";
import { testInstance } from "../test-instance.ts";
import { type PublishingWorld, worldOf } from "./publishing-world.ts";

const { deployment } = testInstance();

/** What a node shows: the count up to which it has followed this world, nothing, or another history. */
type NodeView = number | "away" | "another history";

/** Gives a world these nodes. The views may be changed later. */
const withNodes = (world: PublishingWorld, views: Array<NodeView>): void => {
  const other = worldOf(0);
  other.leaves = someLeaves(world.leaves.length, 7);
  const shown = (view: NodeView) => {
    if (view === "away") return null;
    const mark = view === "another history" ? other.mark() : world.mark(view);
    return { slot: 1n, value: custodyConfigAccount(deployment, mark) };
  };
  world.nodes = {
    count: views.length,
    readFromEach: () => Effect.sync(() => views.map(shown)),
  };
};

/** What hinders a world after a mark, and the size it published. */
const outcome = async (world: PublishingWorld) => {
  let hindrance: unknown;
  await world.run(function* ({ grown, status }) {
    yield* grown(world.mark());
    yield* TestClock.adjust("10 seconds");
    hindrance = (yield* status).hindrance;
  });
  return { hindrance, size: await Effect.runPromise(world.publishedSize) };
};

test.each<{ views: Array<NodeView>; hindrance: string | null; size: number }>([
  { views: [20, 20], hindrance: null, size: 21 },
  { views: [20, 20, "away"], hindrance: null, size: 21 },
  { views: [20, 20, "another history"], hindrance: null, size: 21 },
  { views: [20, 12], hindrance: "second_node_behind", size: 13 },
  { views: [20, 12, 17], hindrance: "second_node_behind", size: 18 },
  { views: [20, "away"], hindrance: "second_node_behind", size: 0 },
  { views: [20, "another history"], hindrance: "nodes_disagree", size: 0 },
  { views: ["another history", "another history", 20], hindrance: "nodes_disagree", size: 0 },
])("nodes that show $views let size $size be signed", async ({ views, hindrance, size }) => {
  const world = worldOf(20);
  withNodes(world, views);
  expect(await outcome(world)).toEqual({ hindrance, size });
});

test("a node that is ahead of the index counts once the index is there", async () => {
  const world = worldOf(20);
  withNodes(world, [20, 20]);
  await world.publish([15]);
  expect(await Effect.runPromise(world.publishedSize)).toBe(0);
  await world.publish([15, 20]);
  expect(await Effect.runPromise(world.publishedSize)).toBe(21);
});

test("a second node that catches up is noticed without another mark", async () => {
  const world = worldOf(20);
  const views: Array<NodeView> = [20, 3];
  withNodes(world, views);
  await world.run(function* ({ grown }) {
    yield* grown(world.mark());
    yield* TestClock.adjust("10 seconds");
    expect(yield* world.publishedSize).toBe(4);
    views[1] = 20;
    yield* TestClock.adjust("10 seconds");
    expect(yield* world.publishedSize).toBe(21);
  });
});

test("one wrong node of two does not end the log, though the index was built from it", async () => {
  const world = worldOf(20);
  const honest = world.leaves;
  withNodes(world, [20, 20]);
  await world.publish();
  world.leaves = someLeaves(20, 7);
  const honestWorld = worldOf(0);
  honestWorld.leaves = honest;
  const views: Array<NodeView> = ["another history", 20];
  withNodes(honestWorld, views);
  world.nodes = honestWorld.nodes;
  await world.run(function* ({ grown, status }) {
    yield* grown(world.mark());
    yield* TestClock.adjust("1 hour");
    expect((yield* status).hindrance).toBe("nodes_disagree");
    expect((yield* world.standing)?.ended).toBeNull();
    world.leaves = honest;
    views[0] = 20;
    yield* grown(world.mark());
    yield* TestClock.adjust("10 seconds");
    expect((yield* status).hindrance).toBeNull();
  });
  expect(world.keyFiles.get(1)).toContain('"ended":null');
});

test("two nodes that show another history than was signed end the log", async () => {
  const world = worldOf(20);
  withNodes(world, [20, 20]);
  await world.publish();
  world.leaves = someLeaves(20, 7);
  expect(await outcome(world)).toMatchObject({ hindrance: "ended" });
});

test("full tiles are kept once their leaves are agreed on, not before", async () => {
  const world = worldOf(600);
  const views: Array<NodeView> = [600, 300];
  withNodes(world, views);
  const kept = (path: string) => Effect.map(world.store.tile(path), (tile) => tile !== null);
  const paths = ["0/tile/entries/000", "0/tile/entries/001", "0/tile/0/001"];
  const both = Effect.forEach(paths, kept);
  await world.run(function* ({ grown }) {
    yield* grown(world.mark());
    yield* TestClock.adjust("10 seconds");
    expect(yield* both).toEqual([true, false, false]);
    views[1] = 600;
    yield* TestClock.adjust("10 seconds");
    expect(yield* both).toEqual([true, true, true]);
  });
});

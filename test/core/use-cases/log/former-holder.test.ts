import { expect, test } from "bun:test";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import { ed25519Key } from "../../../../adapters/signer/ed25519-key.ts";
import { verifierKey } from "../../../../core/log/notes/verifier-key.ts";
import { WitnessUnreachable } from "../../../../ports/log/log-source.ts";
import { worldOf } from "./publishing-world.ts";

/** A world with a witness that never answers, and how often it was asked. */
const withSilentWitness = () => {
  const world = worldOf(20);
  const { publicKey } = ed25519Key(new Uint8Array(32).fill(100));
  const key = verifierKey("w.example", "cosignature", publicKey);
  const asked: Array<string> = [];
  world.policy = {
    logs: [],
    witnesses: [{ name: "w.example", key, url: "http://w.example" }],
    groups: [],
    quorum: "w.example",
  };
  world.witness = (url) => {
    asked.push(url);
    return Effect.fail(new WitnessUnreachable({ reason: "it is away" }));
  };
  return { world, asked };
};

test("a replica that has lost the lease offers nothing more, also in the middle of an offer, and says so", async () => {
  const { world, asked } = withSilentWitness();
  await world.run(function* ({ grown, status }) {
    yield* grown(world.mark());
    yield* TestClock.adjust("10 seconds");
    expect(asked.length).toBeGreaterThan(3);
    expect((yield* status).state).toBe("publishing");
    world.isWriter = false;
    yield* TestClock.adjust("4 seconds");
    const before = asked.length;
    yield* TestClock.adjust("1 hour");
    expect(asked.length).toBe(before);
    expect(yield* status).toMatchObject({ state: "standby", hindrance: null });
    // The lease comes back with the mark of a sync.
    world.isWriter = true;
    yield* grown(world.mark());
    yield* TestClock.adjust("10 seconds");
    expect(asked.length).toBeGreaterThan(before);
    expect((yield* status).state).toBe("publishing");
  });
});

test("a former holder of the lease whose index goes on elsewhere has no hindrance", async () => {
  const world = worldOf(20);
  await world.run(function* ({ grown, status }) {
    expect((yield* status).state).toBe("starting");
    yield* grown(world.mark());
    yield* TestClock.adjust("10 seconds");
    world.isWriter = false;
    yield* TestClock.adjust("1 hour");
    expect(yield* status).toMatchObject({ state: "standby", hindrance: null });
  });
});

test("a replica beside the one that syncs stands by, and publishes once it has synced itself", async () => {
  const world = worldOf(20);
  await world.run(function* ({ grown, standsBy, status }) {
    yield* standsBy(true);
    expect((yield* status).state).toBe("standby");
    // The other one has gone, and no sync of this one has completed.
    yield* standsBy(false);
    expect((yield* status).state).toBe("starting");
    yield* grown(world.mark());
    yield* TestClock.adjust("10 seconds");
    expect((yield* status).state).toBe("publishing");
    // Only its term tells that it is over.
    yield* standsBy(true);
    expect((yield* status).state).toBe("publishing");
    world.isWriter = false;
    yield* TestClock.adjust("1 hour");
    expect((yield* status).state).toBe("standby");
    yield* standsBy(false);
    expect((yield* status).state).toBe("starting");
  });
});

import { Effect, Fiber, Layer, Logger } from "effect";
import { TestClock } from "effect/testing";
import { IndexRows } from "../../../../adapters/memory/index-rows.ts";
import { logStoreOf } from "../../../../adapters/memory/log-rows.ts";
import { ed25519Key } from "../../../../adapters/signer/ed25519-key.ts";
import { hash32FromBytes } from "../../../../core/domain/hash32.ts";
import type { SyncMark } from "../../../../core/domain/index/sync-report.ts";
import {
  parseCheckpoint,
  parseCheckpointText,
} from "../../../../core/log/checkpoint/checkpoint.ts";
import { LeafTree } from "../../../../core/log/leaf/leaf-tree.ts";
import { noEvents } from "../../../../core/log/tree/frontier.ts";
import { networkLeaf } from "../../../../core/log/leaf/event-leaf.ts";
import { fullTilesSince, tilePath } from "../../../../core/log/tiles/tile-path.ts";
import type { LogPublisher } from "../../../../core/use-cases/log/log-publisher.ts";
import { makeLogPublisher } from "../../../../core/use-cases/log/log-publisher.ts";
import type { AskedPolicy } from "../../../../core/use-cases/log/witness-policies.ts";
import { parseLogStanding } from "../../../../core/use-cases/log/log-standing.ts";
import type { LogRefused } from "../../../../core/use-cases/log/signing/open-log.ts";
import { Instance } from "../../../../ports/instance.ts";
import { StoreUnavailable } from "../../../../ports/index/store-refusal.ts";
import { LedgerNodes } from "../../../../ports/ledger/ledger.ts";
import { LogSigner, type SigningKey } from "../../../../ports/log/log-signer.ts";
import { LogStore } from "../../../../ports/log/log-store.ts";
import { WitnessClient } from "../../../../ports/log/log-source.ts";
import { TEST_GENESIS_HASH } from "../../../arbitraries/test-ledger.ts";
import { logIdentity } from "../../../doubles/log-identity.ts";
import { referenceRoot, someLeaves } from "../../log/support/reference-tree.ts";
import { testInstance } from "../test-instance.ts";
import { patientClock } from "../../../doubles/patient-clock.ts";

const { deployment } = testInstance();
const LEAF_0 = networkLeaf(TEST_GENESIS_HASH, deployment.custodyProgram);

/** What a test does: an effect, or the steps of one as `Effect.gen` takes them. */
type Steps = Effect.Effect<void, unknown> | Generator<Effect.Effect<unknown, unknown>, void, never>;

/** A ledger's leaves, a store, a key and its file, which outlive the processes that publish. */
export class PublishingWorld {
  /** Called before each read of the store's leaves. */
  beforeLeaves: () => void = () => {};
  /** Of the events 1 to n. */
  leaves: ReadonlyArray<Uint8Array> = [];
  name = "log.example";
  seed = 1;
  /** Of the second key, while the operator rotates keys; null at other times. */
  nextSeed: number | null = null;
  /** The seed by which the keys' common file is known; null for that of the key. */
  fileOf: number | null = null;
  /** The origin of the log that the operator wants ended. */
  endOrdered: string | null = null;
  policy: AskedPolicy | null = null;
  witness: WitnessClient["Service"]["addCheckpoint"] = () => Effect.die("there is no witness");
  nodes: LedgerNodes["Service"] = { count: 1, readFromEach: () => Effect.die("there is one node") };
  /** Gets the text and details of each line that is logged. */
  logged: (text: unknown, details: unknown) => void = () => {};
  /** Whether this process's term goes on. Afterwards its store refuses what it writes. */
  isWriter = true;
  /** Calls of the store and the key that the process survives, null for all. */
  callsLeft: number | null = null;
  /** Whether the call that kills the process takes effect. */
  dyingCallCounts = false;
  /** Every text that a key signed, in order. */
  readonly signed: Array<{
    readonly size: number;
    readonly origin: string;
    readonly root: string;
  }> = [];
  /** The files beside the keys, by the keys' seeds. */
  readonly keyFiles = new Map<number, string>();
  /** Whether the store's calls take real time. */
  isRemote = false;
  store: LogStore["Service"] = logStoreOf(new IndexRows());

  /** The leaves of the tree at a size, leaf 0 included. */
  treeLeaves(size: number): ReadonlyArray<Uint8Array> {
    return [LEAF_0, ...this.leaves.slice(0, size - 1)];
  }

  mark(count = this.leaves.length): SyncMark {
    const tree = new LeafTree(noEvents(LEAF_0));
    this.leaves.slice(0, count).forEach((leaf, at) => tree.add(BigInt(at + 1), leaf));
    return { ...tree.events, slot: 1n, ledgerTime: 1n, atMs: 0 };
  }

  grow(count: number, seed = 0): void {
    this.leaves = [
      ...this.leaves,
      ...someLeaves(count + this.leaves.length, seed).slice(this.leaves.length),
    ];
  }

  get standing() {
    return Effect.map(this.store.standing, (text) =>
      text === null ? null : (parseLogStanding(text) ?? null),
    );
  }

  /** The published checkpoint's size, 0 before the first. */
  get publishedSize() {
    return Effect.map(this.standing, (standing) => {
      const parsed = standing?.published ? parseCheckpoint(standing.published) : null;
      return parsed !== null && "value" in parsed ? parsed.value.checkpoint.size : 0;
    });
  }

  /** Calls of the store and the key that are on their way. */
  #inFlight = 0;

  /** Virtual time in steps, each of which waits for calls that take real time, such as a database's. */
  pass(seconds: number) {
    const turn = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)));
    return Effect.gen({ self: this }, function* () {
      if (!this.isRemote) return yield* TestClock.adjust(seconds * 1000);
      for (let second = 0; second < seconds; second++) {
        yield* TestClock.adjust(1000);
        for (let quiet = 0; quiet < 3; quiet++) {
          yield* turn;
          if (this.#inFlight > 0) quiet = -1;
        }
      }
    });
  }

  #call<A, E>(work: Effect.Effect<A, E>): Effect.Effect<A, E> {
    if (!this.isRemote) return this.#mortal(work);
    const count = (change: number) =>
      Effect.sync(() => {
        this.#inFlight += change;
      });
    return this.#mortal(
      Effect.acquireUseRelease(
        count(1),
        () => work,
        () => count(-1),
      ),
    );
  }

  #mortal<A, E>(work: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.suspend(() => {
      if (this.callsLeft === null) return work;
      this.callsLeft -= 1;
      if (this.callsLeft > 0) return work;
      return this.dyingCallCounts ? Effect.andThen(work, Effect.never) : Effect.never;
    });
  }

  #checkSigned(text: string) {
    return Effect.gen({ self: this }, function* () {
      const parsed = parseCheckpointText(text);
      if ("fault" in parsed) throw new Error(parsed.fault);
      const { origin, size } = parsed.value;
      const root = hash32FromBytes(parsed.value.root);
      const before = this.signed.find((one) => one.origin === origin && one.size === size);
      if (before !== undefined && before.root !== root)
        throw new Error(`two roots were signed at size ${size}`);
      this.signed.push({ origin, size, root });
      const reference = hash32FromBytes(referenceRoot(this.treeLeaves(size)));
      if (root !== reference) throw new Error(`the root at size ${size} is not RFC 6962's`);
      const generation = origin.split("/").at(-1);
      for (const tile of fullTilesSince(0, size))
        if ((yield* this.store.tile(`${generation}/${tilePath(tile)}`)) === null)
          throw new Error(`${tilePath(tile)} is not kept at size ${size}`);
    });
  }

  #layer() {
    const file = (): number => this.fileOf ?? this.seed;
    const keyOf = (seed: number): SigningKey => {
      const key = ed25519Key(new Uint8Array(32).fill(seed));
      return {
        publicKey: key.publicKey,
        sign: (message) =>
          this.#call(
            Effect.as(
              Effect.orDie(this.#checkSigned(new TextDecoder().decode(message))),
              key.sign(message),
            ),
          ),
      };
    };
    const stored = <A, E>(work: (store: LogStore["Service"]) => Effect.Effect<A, E>) =>
      this.#call(Effect.suspend(() => work(this.store)));
    return Layer.mergeAll(
      Layer.succeed(LogStore, {
        leaves: (from, limit) =>
          stored(() =>
            Effect.sync(() => {
              this.beforeLeaves();
              return this.leaves.slice(Number(from) - 1, Number(from) - 1 + limit);
            }),
          ),
        isWriter: Effect.sync(() => this.isWriter),
        tile: (path) => stored((store) => store.tile(path)),
        keepTiles: (tiles) => stored((store) => store.keepTiles(tiles)),
        standing: stored((store) => store.standing),
        replaceStanding: (before, next) =>
          stored((store) =>
            this.isWriter
              ? store.replaceStanding(before, next)
              : Effect.fail(new StoreUnavailable({ retryable: true, cause: "another term" })),
          ),
      }),
      Layer.succeed(LogSigner, {
        name: this.name,
        key: {
          keys: Effect.sync(() => {
            const first = keyOf(this.seed);
            return this.nextSeed === null
              ? ([first] as const)
              : ([first, keyOf(this.nextSeed)] as const);
          }),
          endOrdered: Effect.sync(() => this.endOrdered),
          memory: `the file of key ${file()}`,
          remembered: this.#call(Effect.sync(() => this.keyFiles.get(file()) ?? null)),
          remember: (before, next) =>
            this.#call(
              Effect.sync(() => {
                if ((this.keyFiles.get(file()) ?? null) !== before) return false;
                this.keyFiles.set(file(), next);
                return true;
              }),
            ),
        },
      }),
      logIdentity(TEST_GENESIS_HASH, deployment),
      Layer.succeed(LedgerNodes, this.nodes),
      Layer.succeed(Instance, testInstance()),
      Logger.layer([
        Logger.make(({ message }) => {
          const [text, details] = [message].flat();
          this.logged(text, details);
        }),
      ]),
      Layer.succeed(WitnessClient, { addCheckpoint: (url, body) => this.witness(url, body) }),
    );
  }

  /** Runs a process that publishes while a test does this, on virtual time; null when it was not refused. */
  run(stepsOf: (publisher: LogPublisher["Service"]) => Steps): Promise<LogRefused | null> {
    const program = Effect.gen({ self: this }, function* () {
      const publisher = yield* makeLogPublisher(this.policy);
      const running = yield* Effect.forkChild(Effect.flip(publisher.run));
      const steps = stepsOf(publisher);
      yield* Effect.isEffect(steps) ? steps : Effect.gen(() => steps);
      yield* TestClock.adjust("1 millis");
      const exit = running.pollUnsafe();
      yield* Fiber.interrupt(running);
      if (exit === undefined) return null;
      return yield* exit;
    });
    return Effect.runPromise(
      program.pipe(Effect.provide(Layer.provideMerge(this.#layer(), patientClock()))),
    );
  }

  /** Runs a process over the marks of these counts, each followed by `seconds`. */
  publish(counts: ReadonlyArray<number> = [this.leaves.length], seconds = 10) {
    return this.run(({ grown }) =>
      Effect.forEach(
        counts,
        (count) => Effect.andThen(grown(this.mark(count)), this.pass(seconds)),
        { discard: true },
      ),
    );
  }
}

/** A new world with this many events. */
export const worldOf = (events: number): PublishingWorld => {
  const world = new PublishingWorld();
  world.grow(events);
  return world;
};

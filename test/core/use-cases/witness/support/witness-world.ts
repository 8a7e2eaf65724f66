import { Effect, Layer, Logger, Queue, type Scope, Stream } from "effect";
import { TestClock } from "effect/testing";
import { witnessStateMemory } from "../../../../../adapters/memory/witness-state.ts";
import { address } from "../../../../../core/domain/address.ts";
import { printLogOrigin } from "../../../../../core/log/checkpoint/log-origin.ts";
import { networkIdOf, networkLeaf } from "../../../../../core/log/leaf/event-leaf.ts";
import type { LoggedEvents } from "../../../../../core/domain/index/sync-report.ts";
import { LeafTree } from "../../../../../core/log/leaf/leaf-tree.ts";
import { noEvents } from "../../../../../core/log/tree/frontier.ts";
import { type VerifierKey, verifierKey } from "../../../../../core/log/notes/verifier-key.ts";
import { LOCAL_DEPLOYMENT } from "../../../../../core/protocol/addresses/local-deployment.ts";
import { makeWitness, type Witness } from "../../../../../core/use-cases/witness/witness.ts";
import { Ledger, LedgerUnavailable } from "../../../../../ports/ledger/ledger.ts";
import { KeyUnavailable } from "../../../../../ports/evidence-signer.ts";
import { AccountNews, type AccountTold } from "../../../../../ports/ledger/account-news.ts";
import { LogSource } from "../../../../../ports/log/log-source.ts";
import { WitnessKey, type WitnessState } from "../../../../../ports/log/witness-state.ts";
import { NETWORK } from "../../../../arbitraries/evidence.ts";
import { ledgerPort } from "../../../../world/ledger-port.ts";
import { SimulatedLog, testKey } from "./simulated-log.ts";
import { custodyConfigAccount } from "../../../../doubles/custody-config.ts";
import { patientClock } from "../../../../doubles/patient-clock.ts";

const GENESIS_HASH = address(NETWORK.genesisHash);

/** Leaf 0 of the simulated ledger's log. */
export const LEAF_ZERO = networkLeaf(GENESIS_HASH, LOCAL_DEPLOYMENT.custodyProgram);

/** The origin of an honest log of the simulated ledger. */
export const ORIGIN = printLogOrigin({
  name: "log.example",
  networkId: networkIdOf(LEAF_ZERO),
  generation: 0,
});

/** The leaf of some event, by any number. */
export const eventLeaf = (n: number): Uint8Array => {
  const leaf = new Uint8Array(66);
  leaf[0] = 1;
  new DataView(leaf.buffer).setUint32(2, n);
  return leaf;
};

/** The witness's key in tests. */
export const WITNESS_KEY = verifierKey("witness.example", "cosignature", testKey(77).publicKey);

/** Events, how many of a world's, or what the ledger's account holds after them. */
type ShownEvents = ReadonlyArray<Uint8Array> | number | LoggedEvents;

/** A ledger, its log and a witness, all of which a test moves. Time is virtual and begins in 2026. */
export class WitnessWorld {
  /** The leaves of all events that the ledger has finalized, event 1 first. */
  readonly events: Array<Uint8Array> = [];
  /**
   * What the witness's node shows: the events of its own ledger, how many of this world's, what an account holds, or
   * null when it does not answer.
   */
  nodeEvents: () => ShownEvents | null = () => this.events.length;
  readonly log: SimulatedLog;
  /** The keys of the log that the witness knows. */
  knownKeys: ReadonlyArray<VerifierKey>;
  /** Whether whoever holds the witness's key signs. */
  keyAnswers = true;
  /** How often the node was asked for the log's root. */
  nodeReads = 0;
  /** What the node's WebSocket tells. */
  readonly news = Effect.runSync(Queue.unbounded<AccountTold>());
  state: Layer.Layer<WitnessState>;
  /** What the ledger logged after each number of events. */
  readonly #logged: Array<LoggedEvents> = [noEvents(LEAF_ZERO)];
  readonly #tree = new LeafTree(noEvents(LEAF_ZERO));

  constructor(origin = ORIGIN, state = witnessStateMemory) {
    this.log = new SimulatedLog(origin, [LEAF_ZERO]);
    this.knownKeys = [this.log.key];
    this.state = state;
  }

  /** A world after so many events, which the log has taken in. */
  static after(events: number): WitnessWorld {
    const world = new WitnessWorld();
    world.grow(events);
    world.follow();
    return world;
  }

  /** Finalizes further events. */
  grow(count: number): void {
    for (let i = 0; i < count; i++) this.events.push(eventLeaf(this.events.length + 1));
  }

  /** What the ledger's account holds after a number of events, of this world or of another. */
  #loggedAfter(events: ShownEvents): LoggedEvents {
    if (typeof events === "object" && "frontier" in events) return events;
    if (typeof events !== "number") {
      const tree = new LeafTree(noEvents(LEAF_ZERO));
      events.forEach((leaf, at) => tree.add(BigInt(at + 1), leaf));
      return tree.events;
    }
    for (let number = this.#logged.length; number <= events; number++) {
      this.#tree.add(BigInt(number), this.events[number - 1] ?? new Uint8Array());
      this.#logged.push(this.#tree.events);
    }
    const logged = this.#logged[events];
    if (logged === undefined) throw new Error("the ledger has these events");
    return logged;
  }

  /** Lets the node's WebSocket take the witness's subscription and send a first notification. */
  readonly listens = Effect.andThen(
    Queue.offerAll(this.news, [{ kind: "taken" }, { kind: "pushed" }]),
    // Until the witness has looked at the node beside the news.
    TestClock.adjust("4 seconds"),
  );

  /** Lets the node's WebSocket tell of the account after some events, those that the node shows unless it is said. */
  tell(events: ShownEvents | null = this.nodeEvents()): Effect.Effect<unknown> {
    const account =
      events === null
        ? null
        : custodyConfigAccount(LOCAL_DEPLOYMENT, this.#loggedAfter(events), GENESIS_HASH);
    return Queue.offer(this.news, { kind: "changed", account });
  }

  /** Lets the log take in all events of the ledger. */
  follow(): void {
    this.log.leaves = [LEAF_ZERO, ...this.events];
  }

  /** A witness and what it refused; each call is a new process over the state of `layer`. */
  readonly whole = Effect.suspend(() =>
    makeWitness({
      logs: this.knownKeys.map((key) => ({ key, url: new URL("http://log.example") })),
      deployment: LOCAL_DEPLOYMENT,
    }),
  ).pipe(
    Effect.map(({ addCheckpoint, refused }) => {
      if (addCheckpoint === null || refused === null) throw new Error("a witness was made");
      return { addCheckpoint, refused };
    }),
  );

  /** A witness; each call is a new process over the state of `layer`. */
  readonly witness = Effect.map(this.whole, ({ addCheckpoint }) => addCheckpoint);

  /** Everything around the witness, over one state. */
  get layer() {
    const ledger = ledgerPort({
      genesisHash: NETWORK.genesisHash,
      slot: () => BigInt(this.events.length),
      accountAt: () => () => {
        this.nodeReads += 1;
        const events = this.nodeEvents();
        if (events === null) return null;
        return custodyConfigAccount(LOCAL_DEPLOYMENT, this.#loggedAfter(events), GENESIS_HASH);
      },
      answer: (value) =>
        Effect.suspend(() =>
          this.nodeEvents() === null
            ? Effect.fail(new LedgerUnavailable({ retryable: true, cause: "down" }))
            : Effect.sync(value),
        ),
    });
    return Layer.mergeAll(
      Layer.succeed(Ledger, ledger),
      Layer.succeed(LogSource, { tile: (url, tile) => this.log.tile(url, tile) }),
      Layer.succeed(AccountNews, { of: () => Stream.fromQueue(this.news) }),
      Layer.succeed(WitnessKey, {
        name: WITNESS_KEY.name,
        publicKey: WITNESS_KEY.publicKey,
        sign: (message) =>
          Effect.suspend(() =>
            this.keyAnswers
              ? Effect.succeed(testKey(77).sign(message))
              : Effect.fail(
                  new KeyUnavailable({ source: "a KMS", reason: "no answer", said: null }),
                ),
          ),
      }),
      this.state,
      patientClock(),
      Logger.layer([]),
    );
  }

  /** Runs a test's steps on virtual time, as an effect, or as `Effect.gen` takes them with a witness of this world. */
  run<A>(steps: Effect.Effect<A, unknown, Around> | WitnessSteps<A>): Promise<A> {
    const { witness, layer } = this;
    return Effect.gen(function* () {
      yield* TestClock.setTime(Date.UTC(2026, 0, 1));
      if (Effect.isEffect(steps)) return yield* steps;
      const addCheckpoint = yield* witness;
      return yield* Effect.gen(() => steps(addCheckpoint));
    }).pipe(Effect.scoped, Effect.provide(layer), Effect.runPromise);
  }
}

type Around = Layer.Success<WitnessWorld["layer"]> | Scope.Scope;
type AddCheckpoint = NonNullable<Witness["Service"]["addCheckpoint"]>;
type WitnessSteps<A> = (
  witness: AddCheckpoint,
) => Generator<Effect.Effect<unknown, unknown, Around>, A, never>;

/** How a witness answers, in one word or with the size of a conflict. */
export type Said = string;

/** What a witness says to a body. */
export const say = (addCheckpoint: AddCheckpoint, body: string): Effect.Effect<Said> =>
  addCheckpoint(body).pipe(
    Effect.match({
      onSuccess: (answer) => (answer.kind === "cosigned" ? "cosigned" : `conflict ${answer.size}`),
      onFailure: (failure) => (failure._tag === "WitnessNotReady" ? failure.lack : failure._tag),
    }),
  );

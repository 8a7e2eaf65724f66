import { expect } from "bun:test";
import { Effect, Exit, Layer, Scope } from "effect";
import { NO_SIGNALS } from "../../doubles/no-signals.ts";
import { witnessStateMemory } from "../../../adapters/memory/witness-state.ts";
import { ed25519Key } from "../../../adapters/signer/ed25519-key.ts";
import { parseCheckpoint } from "../../../core/log/checkpoint/checkpoint.ts";
import { networkIdOf, networkLeaf } from "../../../core/log/leaf/event-leaf.ts";
import { verifierKey } from "../../../core/log/notes/verifier-key.ts";
import type { LogPolicy } from "../../../core/log/policy/log-policy.ts";
import { type Tile, tileWidthIn } from "../../../core/log/tiles/tile-path.ts";
import { parseAddCheckpoint, TLOG_SIZE_TYPE } from "../../../core/log/witness/add-checkpoint.ts";
import { parseLogStanding } from "../../../core/use-cases/log/log-standing.ts";
import { readTile } from "../../../core/use-cases/log/read-tree.ts";
import { makeWitness, type Witness } from "../../../core/use-cases/witness/witness.ts";
import { Ledger } from "../../../ports/ledger/ledger.ts";
import { LedgerSignals } from "../../../ports/ledger/ledger-signals.ts";
import { LogSource, LogUnavailable, type WitnessClient } from "../../../ports/log/log-source.ts";
import { LogStore } from "../../../ports/log/log-store.ts";
import { WitnessKey, WitnessState } from "../../../ports/log/witness-state.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../../arbitraries/test-ledger.ts";
import type { Index } from "../../contracts/fresh-index.ts";
import { custodyConfigAccount } from "../../doubles/custody-config.ts";
import { ledgerPort } from "../../world/ledger-port.ts";
import type { WeatheredChain } from "../../world/weathered-chain.ts";
import type { IndependentTree } from "../independent-tree.ts";

const LEAF_0 = networkLeaf(TEST_GENESIS_HASH, TEST_DEPLOYMENT.custodyProgram);
const ORIGIN = `log.example/log/${networkIdOf(LEAF_0)}/0`;
const KEY = ed25519Key(new Uint8Array(32).fill(77));
const LOG_KEY = verifierKey(ORIGIN, "ed25519", ed25519Key(new Uint8Array(32).fill(1)).publicKey);

/** The policy of a schedule's log: its one witness must cosign. */
export const WITNESSED: LogPolicy = {
  logs: [],
  witnesses: [
    { name: "w", key: verifierKey("w.example", "cosignature", KEY.publicKey), url: "http://w" },
  ],
  groups: [],
  quorum: "w",
};

type AddCheckpoint = NonNullable<Witness["Service"]["addCheckpoint"]>;

/**
 * A witness of the schedule's log, by a node of its own that is honest and some events behind. Between two of its lives
 * it keeps nothing but what it cosigned last.
 */
export class ScheduleWitness {
  /** How often it cosigned. */
  cosigned = 0;
  readonly #roots = new Map<number, string>();
  readonly #state: WitnessState["Service"];
  readonly #services;
  #life: { readonly addCheckpoint: AddCheckpoint; readonly scope: Scope.Closeable } | null = null;

  constructor(
    state: WitnessState["Service"],
    ledger: WeatheredChain,
    indexes: () => ReadonlyArray<Index>,
    below: (n: number) => number,
  ) {
    this.#state = state;
    const readAccounts = () =>
      Effect.sync(() => {
        const { count } = ledger.custodyLog;
        const seen = count - BigInt(below(Number(count < 3n ? count : 3n) + 1));
        const logged = ledger.loggedAt(seen);
        if (logged === undefined) throw new Error("the ledger has these events");
        return { slot: 1n, value: [custodyConfigAccount(TEST_DEPLOYMENT, logged)] };
      });
    /** The tiles of what was signed, from the store of a process that lives. */
    const tile = (_url: URL, asked: Tile) =>
      Effect.gen(function* () {
        const [index] = indexes();
        if (index === undefined) return yield* new LogUnavailable({ cause: "nobody serves it" });
        const text = yield* index.log.standing;
        const size = (text === null ? undefined : parseLogStanding(text))?.signed.size ?? 0;
        if (asked.width > tileWidthIn(asked, size)) return null;
        const tree = { networkLeaf: LEAF_0, generation: 0 };
        return yield* Effect.provideService(readTile(tree, asked), LogStore, index.log);
      }).pipe(Effect.mapError((cause) => new LogUnavailable({ cause })));
    this.#services = Layer.mergeAll(
      Layer.succeed(Ledger, { ...ledgerPort({ genesisHash: TEST_GENESIS_HASH }), readAccounts }),
      Layer.succeed(LogSource, { tile }),
      Layer.succeed(LedgerSignals, NO_SIGNALS),
      Layer.succeed(WitnessState, state),
      Layer.succeed(WitnessKey, {
        name: "w.example",
        publicKey: KEY.publicKey,
        sign: (message) => Effect.succeed(KEY.sign(message)),
      }),
    );
  }

  /** Begins another life. */
  readonly restart = Effect.gen({ self: this }, function* () {
    yield* this.end;
    const scope = yield* Scope.make();
    const { addCheckpoint } = yield* makeWitness({
      logs: [{ key: LOG_KEY, url: new URL("http://log") }],
      deployment: TEST_DEPLOYMENT,
    }).pipe(Effect.provide(this.#services), Scope.provide(scope));
    if (addCheckpoint === null) throw new Error("it is a witness");
    this.#life = { addCheckpoint, scope };
  });

  readonly end = Effect.suspend(() =>
    this.#life === null ? Effect.void : Scope.close(this.#life.scope, Exit.void),
  );

  /** How a log asks it. */
  readonly client: WitnessClient["Service"]["addCheckpoint"] = (_url, body) =>
    Effect.gen({ self: this }, function* () {
      if (this.#life === null) return { status: 503, contentType: "", body: "" };
      const answer = yield* Effect.result(this.#life.addCheckpoint(body));
      if (answer._tag === "Failure") return { status: 503, contentType: "", body: "" };
      const { success } = answer;
      if (success.kind === "conflict")
        return { status: 409, contentType: TLOG_SIZE_TYPE, body: `${success.size}\n` };
      this.#note(body);
      return { status: 200, contentType: "text/plain", body: success.lines };
    });

  /** Notes what was cosigned. Throws at a second root of a size. */
  #note(body: string): void {
    const request = parseAddCheckpoint(body);
    const parsed = "value" in request ? parseCheckpoint(request.value.checkpoint) : request;
    if ("fault" in parsed) throw new Error(parsed.fault);
    const { size, root } = parsed.value.checkpoint;
    const before = this.#roots.get(size);
    if (before !== undefined && before !== root.toHex())
      throw new Error(`two roots of size ${size} were cosigned`);
    this.#roots.set(size, root.toHex());
    this.cosigned += 1;
  }

  /** Expects that each cosigned root is a tree's, and that the tree is cosigned to its end. */
  expectOf(tree: IndependentTree) {
    return Effect.gen({ self: this }, function* () {
      for (const [size, root] of this.#roots)
        expect(root, `the cosigned root of size ${size}`).toBe(tree.roots[size - 1] ?? "");
      expect((yield* this.#state.read(ORIGIN))?.size).toBe(tree.leaves.length);
    });
  }
}

/** A witness that has cosigned nothing yet, in its first life. */
export const scheduleWitness = Effect.fnUntraced(function* (
  ledger: WeatheredChain,
  indexes: () => ReadonlyArray<Index>,
  below: (n: number) => number,
) {
  const state = yield* Effect.provide(WitnessState, witnessStateMemory);
  const witness = new ScheduleWitness(state, ledger, indexes, below);
  yield* witness.restart;
  return witness;
});

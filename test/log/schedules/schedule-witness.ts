import { expect } from "bun:test";
import { Effect, Exit, Layer, Scope } from "effect";
import { noNews } from "../../doubles/no-signals.ts";
import { witnessStateMemory } from "../../../adapters/memory/witness-state.ts";
import { ed25519Key } from "../../../adapters/signer/ed25519-key.ts";
import { checkpointText, parseCheckpoint } from "../../../core/log/checkpoint/checkpoint.ts";
import { networkIdOf, networkLeaf } from "../../../core/log/leaf/event-leaf.ts";
import { printSignedNote } from "../../../core/log/notes/signed-note.ts";
import { verifierKey } from "../../../core/log/notes/verifier-key.ts";
import { noteMessage } from "../../../core/log/notes/verify-note.ts";
import type { LogPolicy } from "../../../core/log/policy/log-policy.ts";
import { type Tile, tileWidthIn } from "../../../core/log/tiles/tile-path.ts";
import {
  parseAddCheckpoint,
  printAddCheckpoint,
  TLOG_SIZE_TYPE,
} from "../../../core/log/witness/add-checkpoint.ts";
import { parseLogStanding } from "../../../core/use-cases/log/log-standing.ts";
import { readTile } from "../../../core/use-cases/log/read-tree.ts";
import { makeWitness, type Witness } from "../../../core/use-cases/witness/witness.ts";
import { Ledger } from "../../../ports/ledger/ledger.ts";
import { LogSource, LogUnavailable, type WitnessClient } from "../../../ports/log/log-source.ts";
import { LogStore } from "../../../ports/log/log-store.ts";
import { type CosignedLog, WitnessKey, WitnessState } from "../../../ports/log/witness-state.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../../arbitraries/test-ledger.ts";
import type { Index } from "../../contracts/fresh-index.ts";
import { referenceProof, referenceRoot } from "../../core/log/support/reference-tree.ts";
import { custodyConfigAccount } from "../../doubles/custody-config.ts";
import { ledgerPort } from "../../world/ledger-port.ts";
import type { WeatheredChain } from "../../world/weathered-chain.ts";
import type { IndependentTree } from "../independent-tree.ts";
import { type LastHead, LOG_PUBLIC_KEYS } from "./schedule-operator.ts";

const LEAF_0 = networkLeaf(TEST_GENESIS_HASH, TEST_DEPLOYMENT.custodyProgram);
const ORIGIN = `log.example/log/${networkIdOf(LEAF_0)}/0`;
/** The key of the schedule's log, which its lies are signed with too. */
const LOG_SIGNER = ed25519Key(new Uint8Array(32).fill(1));
const LOG_KEY = verifierKey(ORIGIN, "ed25519", LOG_SIGNER.publicKey);

const NUMBERS = [0, 1, 2] as const;
const keyOf = (number: number) => ed25519Key(new Uint8Array(32).fill(77 + number));
const nameOf = (number: number): string => `w${number}`;
const urlOf = (number: number): string => `http://${nameOf(number)}`;

/** The policy of a schedule's log: two of its three witnesses must cosign. */
export const WITNESSED: LogPolicy = {
  logs: [],
  witnesses: NUMBERS.map((number) => ({
    name: nameOf(number),
    key: verifierKey(`${nameOf(number)}.example`, "cosignature", keyOf(number).publicKey),
    url: urlOf(number),
  })),
  groups: [{ name: "two", threshold: 2, members: NUMBERS.map(nameOf) }],
  quorum: "two",
};

/** One of a witness's lives, and the state that it began with. */
type Life = {
  readonly addCheckpoint: NonNullable<Witness["Service"]["addCheckpoint"]>;
  readonly state: WitnessState["Service"];
  readonly scope: Scope.Closeable;
};

/** A cosignature that was given: of which tree, and the size that the witness's state held by then. */
type Cosigned = { readonly size: number; readonly root: string; readonly keptSize: number };

const cosignedIn = (state: WitnessState["Service"]) =>
  Effect.orDie(
    Effect.map(state.read(ORIGIN), (last) => ({
      size: last?.size ?? 0,
      isLast: last?.isLast ?? false,
    })),
  );

/**
 * A witness of the schedule's log, by a node of its own that is honest and some events behind. Between two of its lives
 * it keeps nothing but what it cosigned last, and that may be taken back to an older copy.
 */
class ScheduleWitness {
  /** What it cosigned in all its lives. */
  readonly cosigned: Array<Cosigned> = [];
  /** The most events that its node is behind. */
  mostBehind = 3;
  /** What it kept at some times, oldest first. */
  readonly #copies: Array<CosignedLog | null> = [null];
  #state: WitnessState["Service"];
  readonly #below: (n: number) => number;
  readonly #services;
  #life: Life | null = null;

  constructor(
    number: number,
    state: WitnessState["Service"],
    ledger: WeatheredChain,
    indexes: () => ReadonlyArray<Index>,
    below: (n: number) => number,
  ) {
    this.#state = state;
    this.#below = below;
    const key = keyOf(number);
    const readAccounts = () =>
      Effect.sync(() => {
        const { count } = ledger.custodyLog;
        const seen = count - BigInt(below(Math.min(this.mostBehind, Number(count)) + 1));
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
      noNews,
      Layer.succeed(WitnessKey, {
        name: `${nameOf(number)}.example`,
        publicKey: key.publicKey,
        sign: (message) => Effect.succeed(key.sign(message)),
      }),
    );
  }

  /** What it cosigned last, of size 0 for nothing. */
  readonly newest = Effect.suspend(() => cosignedIn(this.#state));

  /** Begins another life with an older copy of what it cosigned, and notes a copy of what it has now. */
  readonly restore = Effect.gen({ self: this }, function* () {
    yield* this.end;
    this.#copies.push(yield* Effect.orDie(this.#state.read(ORIGIN)));
    const copy = this.#copies[this.#below(this.#copies.length)] ?? null;
    this.#state = yield* Effect.provide(WitnessState, witnessStateMemory);
    if (copy !== null) yield* Effect.orDie(this.#state.compareAndSet(ORIGIN, 0, copy));
    yield* this.restart;
  });

  /** Begins another life. */
  readonly restart = Effect.gen({ self: this }, function* () {
    yield* this.end;
    const scope = yield* Scope.make();
    const state = this.#state;
    const { addCheckpoint } = yield* makeWitness({
      logs: LOG_PUBLIC_KEYS.map((each) => ({
        key: verifierKey(ORIGIN, "ed25519", each),
        url: new URL("http://log"),
      })),
      deployment: TEST_DEPLOYMENT,
    }).pipe(
      Effect.provide(this.#services),
      Effect.provideService(WitnessState, state),
      Scope.provide(scope),
    );
    if (addCheckpoint === null) throw new Error("it is a witness");
    this.#life = { addCheckpoint, state, scope };
  });

  readonly end = Effect.suspend(() =>
    this.#life === null ? Effect.void : Scope.close(this.#life.scope, Exit.void),
  );

  /** How a log asks it. */
  readonly answer = (body: string) =>
    Effect.gen({ self: this }, function* () {
      const life = this.#life;
      if (life === null) return { status: 503, contentType: "", body: "" };
      const answer = yield* Effect.result(life.addCheckpoint(body));
      if (answer._tag === "Failure") return { status: 503, contentType: "", body: "" };
      const { success } = answer;
      if (success.kind === "conflict")
        return { status: 409, contentType: TLOG_SIZE_TYPE, body: `${success.size}\n` };
      this.#note(body, (yield* cosignedIn(life.state)).size);
      return { status: 200, contentType: "text/plain", body: success.lines };
    });

  /** Has a lying log offer another history, which begins as the ledger's does where the witness looks. */
  lie(events: ReadonlyArray<Uint8Array>, others: ReadonlyArray<Uint8Array>) {
    return Effect.gen({ self: this }, function* () {
      const from = Math.max((yield* this.newest).size, 1);
      const invented = others.slice(0, 1 + this.#below(others.length));
      yield* this.#offer([...events.slice(0, from), ...invented]);
    });
  }

  /** Offers it the tree of leaves, signed by the log's key. */
  #offer(leaves: ReadonlyArray<Uint8Array>) {
    return Effect.gen({ self: this }, function* () {
      const { size: oldSize } = yield* this.newest;
      const head = { origin: ORIGIN, size: leaves.length, root: referenceRoot(leaves) };
      const text = checkpointText(head);
      const signature = LOG_SIGNER.sign(noteMessage(text));
      const checkpoint = printSignedNote({
        text,
        signatures: [{ name: ORIGIN, id: LOG_KEY.id, signature }],
      });
      const proof = oldSize === 0 ? [] : referenceProof(oldSize, leaves);
      yield* this.answer(printAddCheckpoint({ oldSize, proof, checkpoint }));
    });
  }

  /** Notes what was cosigned. Who asked may not hear of a failure here, so `expectOf` judges it. */
  #note(body: string, keptSize: number): void {
    const request = parseAddCheckpoint(body);
    const parsed = "value" in request ? parseCheckpoint(request.value.checkpoint) : request;
    if ("fault" in parsed) throw new Error(parsed.fault);
    const { size, root } = parsed.value.checkpoint;
    this.cosigned.push({ size, root: root.toHex(), keptSize });
  }

  /**
   * Expects that each cosigned root is a tree's, that the witness kept its size first, and that it has cosigned the log's
   * newest head. Of a log that ended it may have less, since it can compare nothing with an end that its node had passed
   * before; one that cosigned the end cosigns no more of that tree.
   */
  expectOf(tree: IndependentTree, head: LastHead) {
    return Effect.gen({ self: this }, function* () {
      for (const { size, root, keptSize } of this.cosigned) {
        expect(root, `the cosigned root of size ${size}`).toBe(tree.roots[size - 1] ?? "");
        expect(keptSize, `kept when size ${size} was cosigned`).toBeGreaterThanOrEqual(size);
      }
      const newest = yield* this.newest;
      if (!head.isLast || newest.size >= head.size) expect(newest).toEqual(head);
      if (!newest.isLast || tree.leaves.length === head.size) return;
      yield* this.#offer(tree.leaves);
      expect(yield* this.newest).toEqual(head);
    });
  }
}

/** The witnesses of a schedule's log. */
export class ScheduleWitnesses {
  readonly #all: ReadonlyArray<ScheduleWitness>;
  readonly #below: (n: number) => number;
  lies = 0;
  restored = 0;

  constructor(all: ReadonlyArray<ScheduleWitness>, below: (n: number) => number) {
    this.#all = all;
    this.#below = below;
  }

  /** How often one of them cosigned. */
  get cosigned(): number {
    return this.#all.reduce((sum, each) => sum + each.cosigned.length, 0);
  }

  /** How a log asks them. */
  readonly client: WitnessClient["Service"]["addCheckpoint"] = (url, body) =>
    this.#all[NUMBERS.findIndex((number) => urlOf(number) === url)]?.answer(body) ??
    Effect.die(new Error(`nobody is at ${url}`));

  /**
   * Some of them begin another life, one of them with an older copy of what it kept, and a log lies to some. Of a log
   * that is to end they keep what they cosigned: without that they compare nothing with an end that their nodes passed.
   */
  stir(events: ReadonlyArray<Uint8Array>, others: ReadonlyArray<Uint8Array>, isToEnd: boolean) {
    return Effect.gen({ self: this }, function* () {
      for (const witness of this.#all) {
        const chance = this.#below(8) + Number(isToEnd);
        if (chance === 0) this.restored += 1;
        if (chance === 0) yield* witness.restore;
        else if (chance < 4) yield* witness.restart;
        if (this.#below(3) > 0 || others.length === 0) continue;
        this.lies += 1;
        yield* witness.lie(events, others);
      }
    });
  }

  /** From now on their nodes are at the ledger's head. */
  calm(): void {
    for (const witness of this.#all) witness.mostBehind = 0;
  }

  /** Whether all of them have cosigned a head last. */
  haveCosigned({ size, isLast }: LastHead) {
    return Effect.map(
      Effect.forEach(this.#all, (witness) => witness.newest),
      (all) => all.every((newest) => newest.size === size && newest.isLast === isLast),
    );
  }

  /** Expects of each of them what `ScheduleWitness.expectOf` does. */
  expectOf(tree: IndependentTree, head: LastHead) {
    return Effect.forEach(this.#all, (witness) => witness.expectOf(tree, head), {
      discard: true,
    });
  }

  readonly end = Effect.suspend(() =>
    Effect.forEach(this.#all, (witness) => witness.end, { discard: true }),
  );
}

/** Witnesses that have cosigned nothing yet, in their first lives. */
export const scheduleWitnesses = Effect.fnUntraced(function* (
  ledger: WeatheredChain,
  indexes: () => ReadonlyArray<Index>,
  below: (n: number) => number,
) {
  const all = yield* Effect.forEach(NUMBERS, (number) =>
    Effect.gen(function* () {
      const state = yield* Effect.provide(WitnessState, witnessStateMemory);
      const witness = new ScheduleWitness(number, state, ledger, indexes, below);
      yield* witness.restart;
      return witness;
    }),
  );
  return new ScheduleWitnesses(all, below);
});

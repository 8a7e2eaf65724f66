import { expect } from "bun:test";
import { Effect } from "effect";
import { ed25519Key } from "../../../../adapters/signer/ed25519-key.ts";
import { parseCheckpoint } from "../../../../core/log/checkpoint/checkpoint.ts";
import { cosignatureMessage, cosignatureOf } from "../../../../core/log/notes/cosignature.ts";
import { printSignatures } from "../../../../core/log/notes/signed-note.ts";
import { verifierKey } from "../../../../core/log/notes/verifier-key.ts";
import type { LogPolicy, PolicyGroup } from "../../../../core/log/policy/log-policy.ts";
import {
  parseAddCheckpoint,
  printTlogSize,
  TLOG_SIZE_TYPE,
} from "../../../../core/log/witness/add-checkpoint.ts";
import type { WitnessAnswer, WitnessUnreachable } from "../../../../ports/log/log-source.ts";
import { referenceProof } from "../../log/support/reference-tree.ts";
import type { PublishingWorld } from "./publishing-world.ts";

/** What a witness answers instead of what it should, undefined for what it should. */
export type Habit = (
  request: number,
) => Effect.Effect<WitnessAnswer | undefined, WitnessUnreachable>;

/** It cosigns. */
export const soundly: Habit = () => Effect.succeed(undefined);
/** It answers this. */
export const answers =
  (status: number, body = "", contentType = "text/plain"): Habit =>
  () =>
    Effect.succeed({ status, contentType, body });

/** A witness of tlog-witness that remembers what it cosigned, and checks every proof against RFC 6962. */
export class TestWitness {
  size = 0;
  asked: Array<number> = [];
  readonly #world: PublishingWorld;
  readonly #key: ReturnType<typeof ed25519Key>;
  habit: Habit;
  readonly name: string;

  constructor(world: PublishingWorld, place: number, habit: Habit) {
    this.#world = world;
    this.#key = ed25519Key(new Uint8Array(32).fill(100 + place));
    this.name = `w${place}.example`;
    this.habit = habit;
  }

  get policyLine() {
    const key = verifierKey(this.name, "cosignature", this.#key.publicKey);
    return { name: this.name, key, url: `http://${this.name}` };
  }

  answer(body: string): Effect.Effect<WitnessAnswer, WitnessUnreachable> {
    return Effect.gen({ self: this }, function* () {
      const request = parseAddCheckpoint(body);
      if ("fault" in request) throw new Error(request.fault);
      const { oldSize, proof, checkpoint } = request.value;
      const parsed = parseCheckpoint(checkpoint);
      if ("fault" in parsed) throw new Error(parsed.fault);
      const { size } = parsed.value.checkpoint;
      this.asked.push(size);
      const habit = yield* this.habit(this.asked.length);
      if (habit !== undefined) return habit;
      if (oldSize !== this.size)
        return { status: 409, contentType: TLOG_SIZE_TYPE, body: printTlogSize(this.size) };
      const leaves = this.#world.treeLeaves(size);
      expect(proof).toEqual(
        oldSize === 0 || oldSize === size ? [] : [...referenceProof(oldSize, leaves)],
      );
      this.size = size;
      const signature = this.#key.sign(cosignatureMessage(parsed.value.note.text, 7n));
      const line = cosignatureOf(this.policyLine.key, 7n, signature);
      return { status: 200, contentType: "text/plain", body: printSignatures([line]) };
    });
  }
}

/** Gives a world witnesses of these habits, and a policy over them. */
export const withWitnesses = (
  world: PublishingWorld,
  habits: ReadonlyArray<Habit>,
  quorum: string | null,
  groups: ReadonlyArray<PolicyGroup> = [],
): ReadonlyArray<TestWitness> => {
  const witnesses = habits.map((habit, place) => new TestWitness(world, place, habit));
  const policy: LogPolicy = {
    logs: [],
    witnesses: witnesses.map(({ policyLine }) => policyLine),
    groups,
    quorum,
  };
  world.policy = policy;
  world.witness = (url, body) =>
    witnesses.find(({ name }) => url === `http://${name}`)?.answer(body) ?? Effect.die(url);
  return witnesses;
};

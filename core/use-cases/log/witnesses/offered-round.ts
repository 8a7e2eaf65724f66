import { Deferred, Duration } from "effect";
import { parseCheckpoint } from "../../../log/checkpoint/checkpoint.ts";
import { MAX_SIGNATURES, type NoteSignature } from "../../../log/notes/signed-note.ts";
import { verifyNote } from "../../../log/notes/verify-note.ts";
import type { PolicyWitness } from "../../../log/policy/log-policy.ts";
import { judgeQuorum } from "../../../log/policy/quorum.ts";
import { type LogStanding, logKeysOf } from "../log-standing.ts";
import { printSignedCheckpoint, type SignedCheckpoint } from "../signing/open-log.ts";
import type { SigningLog } from "../signing/signing-log.ts";
import type { AskedPolicy } from "../witness-policies.ts";
import type { WitnessRecord } from "./ask-witness.ts";

/** How long a checkpoint without its quorum is offered while a newer one waits. */
const OFFERED_FOR_MS = Duration.toMillis(Duration.seconds(60));
/** How long a policy without a quorum waits for its witnesses. */
const WAITED_WITHOUT_QUORUM_MS = Duration.toMillis(Duration.seconds(5));
/** How long a checkpoint that has its quorum waits for the second one of its policy. */
const AWAITED_FOR_MS = Duration.toMillis(Duration.seconds(1));
/** How long a newer checkpoint waits for witnesses that have answered so far, once the quorum is met. */
const WAITED_FOR_OTHERS_MS = Duration.toMillis(Duration.seconds(2));

/** A signed checkpoint, and the term of the lease under which it was signed. */
export type Offered = { readonly checkpoint: SignedCheckpoint; readonly epoch: bigint };

/** The published checkpoint of a note, null for none. */
export const publishedIn = (published: string | null) => {
  const parsed = published === null ? null : parseCheckpoint(published);
  return parsed !== null && "value" in parsed ? parsed.value : null;
};

/** The size of a published checkpoint, 0 for none. */
export const sizeOf = (published: string | null): number =>
  publishedIn(published)?.checkpoint.size ?? 0;

/**
 * A checkpoint with the signatures of the log's other keys under the same text that are published and verify: the process
 * that holds such a key may sign again only with its next sync.
 */
const withOtherKeys = (checkpoint: SignedCheckpoint, standing: LogStanding): SignedCheckpoint => {
  const { text, signatures } = checkpoint;
  const note = publishedIn(standing.published)?.note;
  if (note?.text !== text) return checkpoint;
  const others = logKeysOf(standing)
    .filter((key) => signatures.every(({ id }) => id !== key.id))
    .flatMap(
      (key) =>
        note.signatures.find(
          (line) => "value" in verifyNote({ text, signatures: [line] }, [key]),
        ) ?? [],
    );
  return { ...checkpoint, signatures: [...signatures, ...others] };
};

/**
 * Publishes the note that is made of a checkpoint, with the lines of the log's other keys, and of the published note;
 * unless the log has published a larger one, or has ended and this is not its last.
 */
export const publish = (
  log: SigningLog,
  checkpoint: SignedCheckpoint,
  note: (checkpoint: SignedCheckpoint, published: string | null) => string,
) =>
  log.kept.publish((standing) => {
    const { size, isLast } = checkpoint.head;
    const { published, ended } = standing;
    return (ended === null || isLast) && sizeOf(published) <= size
      ? note(withOtherKeys(checkpoint, standing), published)
      : null;
  });

/** What is known of witnesses, by their names. */
type Records = ReadonlyMap<string, WitnessRecord>;

/** A checkpoint that is offered to the witnesses of a policy, from its turn until a newer one's. */
export class OfferedRound {
  readonly offered: Offered;
  readonly policy: AskedPolicy;
  /** The witnesses that are asked. */
  readonly asked: ReadonlyArray<PolicyWitness>;
  /** Completes when the next one has its turn. */
  readonly over = Deferred.makeUnsafe<void>();
  /** The cosignatures that came, by the policy's names, in their order. */
  readonly gathered = new Map<string, NoteSignature>();
  /** How many of them were published; null before the first time. */
  publishedCount: number | null = null;
  isOver = false;
  readonly #startedMs: number;

  /** Begins at a monotonic time, milliseconds. */
  constructor(offered: Offered, policy: AskedPolicy, startedMs: number) {
    this.offered = offered;
    this.policy = policy;
    this.asked = policy.witnesses.filter(({ url }) => url !== null);
    this.#startedMs = startedMs;
  }

  /** Whether every witness that is asked has cosigned. */
  get isComplete(): boolean {
    return this.gathered.size === this.asked.length;
  }

  /** Whether it is to be published: with its quorum, and anew with each cosignature that comes later. */
  isReady(nowMs: number, records: Records): boolean {
    if (this.publishedCount !== null) return this.gathered.size > this.publishedCount;
    if (this.policy.quorum === null)
      return this.isComplete || nowMs - this.#startedMs >= WAITED_WITHOUT_QUORUM_MS;
    if (!judgeQuorum(this.policy, this.gathered.keys()).isMet) return false;
    return nowMs - this.#startedMs >= AWAITED_FOR_MS || !this.#isAwaited(records);
  }

  /** Whether the second quorum of the policy is missing, and witnesses that have answered so far can still make it. */
  #isAwaited(records: Records): boolean {
    const { awaited } = this.policy;
    if (awaited === undefined) return false;
    const second = { ...this.policy, quorum: awaited };
    if (judgeQuorum(second, this.gathered.keys()).isMet) return false;
    const names = this.asked.map(({ name }) => name);
    return judgeQuorum(
      second,
      names.filter((name) => this.#mayAnswer(name, records)),
    ).isMet;
  }

  /** Whether a witness has cosigned, or has answered all that it was asked so far. */
  #mayAnswer(name: string, records: Records): boolean {
    return this.gathered.has(name) || (records.get(name)?.problemSinceMs ?? null) === null;
  }

  /** Whether it has been offered for a minute without its quorum. */
  lacksQuorum(nowMs: number): boolean {
    return this.publishedCount === null && nowMs - this.#startedMs >= OFFERED_FOR_MS;
  }

  /**
   * Whether a newer one may have its turn. Once this one is published, witnesses that do not answer are not waited for.
   * What they are asked at the time goes on.
   */
  mayEnd(nowMs: number, records: Records): boolean {
    if (this.publishedCount === null) return this.lacksQuorum(nowMs);
    if (nowMs - this.#startedMs >= WAITED_FOR_OTHERS_MS) return true;
    return this.asked.every(
      ({ name }) => this.gathered.has(name) || !this.#mayAnswer(name, records),
    );
  }

  /** The next monotonic time at which one of the answers above may change by itself; null for none. */
  nextMs(nowMs: number): number | null {
    const times = [AWAITED_FOR_MS, WAITED_FOR_OTHERS_MS, WAITED_WITHOUT_QUORUM_MS, OFFERED_FOR_MS];
    return times.map((ms) => this.#startedMs + ms).find((at) => at > nowMs) ?? null;
  }

  /**
   * The checkpoint with the cosignatures of the note that is published, if that is the same one, and those that came
   * since: a witness's new one in place of its old one. So a reader sees lines come, and none go.
   */
  note(checkpoint: SignedCheckpoint, published: string | null): string {
    const note = publishedIn(published)?.note;
    const before = note?.text === checkpoint.text ? note.signatures : [];
    const lines = new Map<string, NoteSignature>();
    for (const line of before) {
      const own = this.policy.witnesses.find(
        ({ key }) => key.name === line.name && key.id === line.id,
      );
      if (own !== undefined) lines.set(own.name, line);
    }
    for (const [name, line] of this.gathered) lines.set(name, line);
    const room = MAX_SIGNATURES - checkpoint.signatures.length;
    return printSignedCheckpoint(checkpoint, [...lines.values()].slice(0, room));
  }
}

import { Duration, Effect } from "effect";
import { IndexReader } from "../../../ports/index/index-reader.ts";
import type { Hash32 } from "../../domain/hash32.ts";
import type { SyncMark } from "../../domain/index/sync-report.ts";
import { LAST_UNIX_SECOND, type UnixSeconds } from "../../domain/unix-time.ts";
import { parseCheckpoint } from "../../log/checkpoint/checkpoint.ts";
import { printVerifierKey } from "../../log/notes/verifier-key.ts";
import type { LogPolicy } from "../../log/policy/log-policy.ts";
import { type NotedCosignature, notedCosignatures } from "../../log/policy/noted-cosignatures.ts";
import { judgeQuorum } from "../../log/policy/quorum.ts";
import { IndexSync } from "../index/sync/index-sync.ts";
import { LogPublisher, type PublisherState } from "../log/log-publisher.ts";
import { type EndedLog, type LogHindrance, logKeysOf } from "../log/log-standing.ts";
import { SettlementLog } from "../log/serving/published-log.ts";
import type { WitnessRecord } from "../log/witnesses/ask-witness.ts";

/** Time limit of one part of the status. */
const PART_TIMEOUT = Duration.millis(700);

/** The effect's value, null when it fails or takes longer than 700 ms. */
export const orNull = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(
    Effect.timeout(PART_TIMEOUT),
    Effect.orElseSucceed(() => null),
  );

/** What the index holds, and its sync activity. */
export const indexStatus = Effect.gen(function* () {
  const index = yield* IndexReader;
  const sync = yield* IndexSync;
  return { ...(yield* index.summary), ...(yield* sync.activity) };
});

/** How many slots the ledger is ahead of the index, at least 0; null when either is not known. */
export const lagBehind = (
  mark: SyncMark | null | undefined,
  slot: bigint | undefined,
): bigint | null => {
  if (mark === null || mark === undefined || slot === undefined) return null;
  return slot > mark.slot ? slot - mark.slot : 0n;
};

/** How the settlement log stands. */
export type LogStatus = {
  /** What this process does for it. */
  readonly state: PublisherState;
  /** Null before anything is signed, as are `vkey`, `size` and `root`. */
  readonly origin: string | null;
  /** The log's key as policies name it. */
  readonly vkey: string | null;
  /** Of the key that signs as well while keys are rotated; null at other times. */
  readonly nextVkey: string | null;
  /** Size and root that were signed last. */
  readonly size: number | null;
  readonly root: Hash32 | null;
  /** The size of the published checkpoint, null before the first. */
  readonly publishedSize: number | null;
  /** Its quorum in words, by the policy of this process; null without one, and before the first. */
  readonly quorum: string | null;
  /** The newest time that a witness of the policy states in it, Unix seconds; null without one. */
  readonly cosignedAt: UnixSeconds | null;
  /** The witnesses whose cosignature it has, each with the Unix second that it states. */
  readonly cosignatures: ReadonlyArray<NotedCosignature>;
  readonly hindrance: LogHindrance | null;
  /** Why it signs nothing more, null while it goes on. */
  readonly ended: string | null;
  /** The logs that ended before it, oldest first. */
  readonly predecessors: ReadonlyArray<EndedLog>;
  /** By name; those of the policy that this process has offered a checkpoint. */
  readonly witnesses: ReadonlyArray<
    Omit<WitnessRecord, "problemSinceMs" | "aheadTo"> & { readonly name: string }
  >;
  /** The names of those that have not cosigned for some time. */
  readonly missingWitnesses: ReadonlyArray<string>;
};

/** Every witness of the log that is known by name. */
export const witnessNames = (log: LogStatus): ReadonlyArray<string> => [
  ...new Set([
    ...log.witnesses.map(({ name }) => name),
    ...log.cosignatures.map(({ name }) => name),
    ...log.missingWitnesses,
  ]),
];

/** The quorum of a published checkpoint, and when it was cosigned. */
const cosignedBy = (
  checkpoint: string | null,
  policy: LogPolicy | null,
): Pick<LogStatus, "quorum" | "cosignedAt" | "cosignatures"> => {
  const parsed = checkpoint === null ? null : parseCheckpoint(checkpoint);
  if (policy === null || parsed === null || "fault" in parsed)
    return { quorum: null, cosignedAt: null, cosignatures: [] };
  const cosigned = notedCosignatures(parsed.value.note, policy);
  const newest = cosigned.reduce<bigint | null>(
    (last, { time }) => (last === null || time > last ? time : last),
    null,
  );
  const { reason } = judgeQuorum(
    policy,
    cosigned.map(({ name }) => name),
  );
  // A witness may state any time; what no date can name is not shown.
  const isDate = newest !== null && newest <= LAST_UNIX_SECOND;
  return { quorum: reason, cosignedAt: isDate ? newest : null, cosignatures: cosigned };
};

/**
 * The status of the log that this service publishes; null without one. Fails like the store, unless this process has
 * its key.
 */
export const readLogStatus = Effect.gen(function* () {
  const { state, hindrance, policy, witnesses, missing } = yield* (yield* LogPublisher).status;
  const { published } = yield* SettlementLog;
  // A process that has the key shows what hinders it also while the store does not answer.
  const log = yield* state === "no_key" ? published : Effect.orElseSucceed(published, () => null);
  if (log === null && state === "no_key") return null;
  const standing = log?.standing ?? null;
  const ended = standing?.ended ?? null;
  const isMissingShown = ended === null || standing?.signed.isLast === true;
  const [vkey = null, nextVkey = null] = standing ? logKeysOf(standing).map(printVerifierKey) : [];
  const status: LogStatus = {
    state: ended === null ? state : "ended",
    origin: standing?.signed.origin ?? null,
    vkey,
    nextVkey,
    size: standing?.signed.size ?? null,
    root: standing?.signed.root ?? null,
    publishedSize: log?.checkpoint?.size ?? null,
    ...cosignedBy(log?.checkpoint?.text ?? null, policy),
    hindrance: ended === null ? hindrance : "ended",
    ended,
    predecessors: standing?.predecessors ?? [],
    witnesses: [...witnesses]
      .filter(([name]) => policy?.witnesses.some((each) => each.name === name))
      .map(([name, { size, nonsense, lastProblem }]) => ({ name, size, nonsense, lastProblem }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    missingWitnesses: isMissingShown ? missing : [],
  };
  return status;
});

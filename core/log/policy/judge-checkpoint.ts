import { type Checkpoint, parseCheckpoint } from "../checkpoint/checkpoint.ts";
import { verifyNote } from "../notes/verify-note.ts";
import type { Parsed } from "../parsed.ts";
import type { LogPolicy, PolicyLog, PolicyWitness } from "./log-policy.ts";
import { judgeQuorum, type QuorumVerdict } from "./quorum.ts";

/** A witness that cosigned, and when it states that it did, in Unix seconds. */
export type CountedCosignature = { readonly witness: PolicyWitness; readonly time: bigint };

/** A checkpoint that a log of the policy signed, and who witnessed it. */
export type JudgedCheckpoint = {
  readonly checkpoint: Checkpoint;
  readonly log: PolicyLog;
  /** One for each witness of the policy that cosigned: its latest. */
  readonly cosignatures: ReadonlyArray<CountedCosignature>;
  readonly quorum: QuorumVerdict;
  /** The newest cosignatures that meet the quorum, and no more than it needs, newest first; empty where none does. */
  readonly counted: ReadonlyArray<CountedCosignature>;
};

/**
 * The newest cosignatures that meet a policy's quorum: the time of the last one is when the quorum last stood as a
 * whole.
 */
const countedFor = (
  policy: LogPolicy,
  cosignatures: ReadonlyArray<CountedCosignature>,
): ReadonlyArray<CountedCosignature> => {
  if (policy.quorum === null) return [];
  const meet = (some: ReadonlyArray<CountedCosignature>): boolean =>
    judgeQuorum(
      policy,
      some.map(({ witness }) => witness.name),
    ).isMet;
  const newestFirst = cosignatures.toSorted(
    (a, b) => Number(b.time > a.time) - Number(b.time < a.time),
  );
  const last = newestFirst.findIndex((_, at) => meet(newestFirst.slice(0, at + 1)));
  const enough = newestFirst.slice(0, last + 1);
  return enough.reduceRight((counted, each) => {
    const others = counted.filter((other) => other !== each);
    return meet(others) ? others : counted;
  }, enough);
};

/**
 * A checkpoint as a policy sees it, or why it is none of a log of the policy. Whether the quorum is met is part of the
 * answer, not a fault. Never throws.
 */
export const judgeCheckpoint = (policy: LogPolicy, text: string): Parsed<JudgedCheckpoint> => {
  const parsed = parseCheckpoint(text);
  if ("fault" in parsed) return parsed;
  const { checkpoint, note } = parsed.value;
  const logs = policy.logs.filter(({ key }) => key.name === checkpoint.origin);
  if (logs.length === 0) return { fault: `the policy has no log ${checkpoint.origin}` };
  const keys = [...logs, ...policy.witnesses].map(({ key }) => key);
  const verified = verifyNote(note, keys);
  if ("fault" in verified) return verified;
  const log = logs.find(({ key }) => verified.value.some((each) => each.key === key));
  if (log === undefined) return { fault: `${checkpoint.origin} did not sign the checkpoint` };
  const cosignatures = policy.witnesses.flatMap((witness) => {
    const times = verified.value.flatMap(({ key, time }) =>
      key === witness.key && time !== null ? [time] : [],
    );
    const [first, ...more] = times;
    if (first === undefined) return [];
    return [{ witness, time: more.reduce((a, b) => (a > b ? a : b), first) }];
  });
  const quorum = judgeQuorum(
    policy,
    cosignatures.map(({ witness }) => witness.name),
  );
  const counted = countedFor(policy, cosignatures);
  return { value: { checkpoint, log, cosignatures, quorum, counted } };
};

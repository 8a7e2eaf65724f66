import { Deferred, Duration, Effect, Ref } from "effect";
import { type NoteSignature, parseSignatures } from "../../../log/notes/signed-note.ts";
import { verifyNote } from "../../../log/notes/verify-note.ts";
import type { LogPolicy, PolicyWitness } from "../../../log/policy/log-policy.ts";
import { judgeQuorum } from "../../../log/policy/quorum.ts";
import {
  parseTlogSize,
  printAddCheckpoint,
  TLOG_SIZE_TYPE,
} from "../../../log/witness/add-checkpoint.ts";
import { WitnessClient } from "../../../../ports/log/log-source.ts";
import { type LogTree, readConsistencyProof } from "../read-tree.ts";
import { printSignedCheckpoint, type SignedCheckpoint } from "../signing/open-log.ts";

/** How long a checkpoint is offered; the newest one has its turn then. */
const OFFERED_FOR = Duration.seconds(60);
/** How long a policy without a quorum waits for its witnesses. */
const WAITED_WITHOUT_QUORUM = Duration.seconds(5);
/** Between two offers to a witness that did not cosign. */
const OFFER_AGAIN = Duration.seconds(2);

/** What is known of one witness. */
export type WitnessRecord = {
  /** The size it cosigned last, as far as this process knows. */
  readonly size: number;
  /** How many of its answers had no form that a witness's answer has, since the process began. */
  readonly nonsense: number;
  /** Why the last offer brought no cosignature, null when it did. */
  readonly lastProblem: string | null;
};

/** What this process knows of the witnesses of its policy, by their names. */
export type WitnessRecords = Ref.Ref<ReadonlyMap<string, WitnessRecord>>;

const NEW_WITNESS: WitnessRecord = { size: 0, nonsense: 0, lastProblem: null };

/** The first 100 printable ASCII characters of what a witness wrote: the status shows them. */
const shortened = (body: string): string => body.replaceAll(/[^ -~]/g, "").slice(0, 100);

/** One offer to one witness: its cosignature, the size to begin at, or why there is neither. */
const offer = Effect.fnUntraced(function* (
  tree: LogTree,
  checkpoint: SignedCheckpoint,
  { key, url }: PolicyWitness,
  oldSize: number,
) {
  const client = yield* WitnessClient;
  const { size } = checkpoint.head;
  const body = printAddCheckpoint({
    oldSize,
    proof: yield* readConsistencyProof(tree, oldSize, size),
    checkpoint: printSignedCheckpoint(checkpoint, []),
  });
  const answer = yield* client.addCheckpoint(url ?? "", body);
  if (answer.status === 409 && answer.contentType === TLOG_SIZE_TYPE) {
    const known = parseTlogSize(answer.body);
    return known === undefined || known > size
      ? ({
          nonsense: `it states to have cosigned another size: ${shortened(answer.body)}`,
        } as const)
      : ({ size: known } as const);
  }
  if (answer.status !== 200) return { problem: `it answered ${answer.status}` } as const;
  const signatures = parseSignatures(answer.body);
  if ("fault" in signatures) return { nonsense: signatures.fault } as const;
  const { text } = checkpoint;
  const verified = verifyNote({ text, signatures: signatures.value }, [key]);
  if ("fault" in verified) return { nonsense: verified.fault } as const;
  const cosignature = signatures.value.find(({ name, id }) => name === key.name && id === key.id);
  return cosignature === undefined
    ? ({ nonsense: "it signed with another key" } as const)
    : ({ cosignature } as const);
});

/** Offers a checkpoint to one witness until it cosigns. */
const untilCosigned = Effect.fnUntraced(function* (
  tree: LogTree,
  checkpoint: SignedCheckpoint,
  witness: PolicyWitness,
  records: WitnessRecords,
) {
  const note = (change: Partial<WitnessRecord>, isNonsense = false) =>
    Ref.update(records, (known) => {
      const before = known.get(witness.name) ?? NEW_WITNESS;
      const nonsense = before.nonsense + (isNonsense ? 1 : 0);
      return new Map(known).set(witness.name, { ...before, ...change, nonsense });
    });
  let isTold = false;
  for (;;) {
    const known = (yield* Ref.get(records)).get(witness.name) ?? NEW_WITNESS;
    const oldSize = Math.min(known.size, checkpoint.head.size);
    const outcome = yield* Effect.result(offer(tree, checkpoint, witness, oldSize));
    if (outcome._tag === "Failure") {
      const { failure } = outcome;
      const reason = failure._tag === "WitnessUnreachable" ? failure.reason : "the store is away";
      yield* note({ lastProblem: reason });
    } else if ("cosignature" in outcome.success) {
      yield* note({ size: checkpoint.head.size, lastProblem: null });
      return outcome.success.cosignature;
    } else if ("size" in outcome.success) {
      const { size } = outcome.success;
      yield* note({ size });
      // The first time, it gets the proof from its size at once. It may name another size each time, so then it waits.
      isTold = !isTold;
      if (isTold && size !== oldSize) continue;
    } else if ("nonsense" in outcome.success)
      yield* note({ lastProblem: outcome.success.nonsense }, true);
    else yield* note({ lastProblem: outcome.success.problem });
    yield* Effect.sleep(OFFER_AGAIN);
  }
});

/**
 * The checkpoint as a note with the cosignatures that meet the policy's quorum, from witnesses asked side by side; null when the
 * quorum did not come within 60 seconds. Where the policy names no quorum, with the cosignatures that came within five
 * seconds. A witness that answers nonsense is counted and asked again.
 */
export const gatherCosignatures = Effect.fnUntraced(function* (
  tree: LogTree,
  checkpoint: SignedCheckpoint,
  policy: LogPolicy,
  records: WitnessRecords,
) {
  const gathered = new Map<string, NoteSignature>();
  const isMet = () => judgeQuorum(policy, gathered.keys()).isMet;
  const met = yield* Deferred.make<void>();
  const ask = (witness: PolicyWitness) =>
    Effect.flatMap(untilCosigned(tree, checkpoint, witness, records), (cosignature) => {
      gathered.set(witness.name, cosignature);
      return policy.quorum !== null && isMet() ? Deferred.succeed(met, undefined) : Effect.void;
    });
  const asked = policy.witnesses.filter(({ url }) => url !== null);
  const all = Effect.forEach(asked, ask, { concurrency: "unbounded", discard: true });
  const limit = policy.quorum === null ? WAITED_WITHOUT_QUORUM : OFFERED_FOR;
  yield* Effect.timeoutOption(Effect.raceFirst(Deferred.await(met), all), limit);
  return isMet() ? printSignedCheckpoint(checkpoint, [...gathered.values()]) : null;
});

import { Effect, Ref } from "effect";
import { parseSignatures } from "../../../log/notes/signed-note.ts";
import { verifyNote } from "../../../log/notes/verify-note.ts";
import type { PolicyWitness } from "../../../log/policy/log-policy.ts";
import {
  parseTlogSize,
  printAddCheckpoint,
  TLOG_SIZE_TYPE,
} from "../../../log/witness/add-checkpoint.ts";
import { WitnessClient } from "../../../../ports/log/log-source.ts";
import { monotonicMs } from "../../single-flight.ts";
import { type LogTree, readConsistencyProof } from "../read-tree.ts";
import { printSignedCheckpoint, type SignedCheckpoint } from "../signing/open-log.ts";
import type { StoreUnavailable } from "../../../../ports/index/store-refusal.ts";

/** What is known of one witness. */
export type WitnessRecord = {
  /** The size it cosigned last, as far as this process knows. */
  readonly size: number;
  /** How many of its answers had no form that a witness's answer has, since the process began. */
  readonly nonsense: number;
  /** Why the last offer brought no cosignature, null when it did. */
  readonly lastProblem: string | null;
  /** Since when no offer has brought one, in monotonic milliseconds; null while they do. */
  readonly problemSinceMs: number | null;
  /** Whether the log has the problem's line; absent while it has none. */
  readonly isLogged?: boolean;
  /** The size that it states to have cosigned, larger than the one it was offered; 0 when it states none. */
  readonly aheadTo: number;
};

/** What this process knows of the witnesses of its policy, by their names. */
export type WitnessRecords = Ref.Ref<ReadonlyMap<string, WitnessRecord>>;

const NEW_WITNESS: WitnessRecord = {
  size: 0,
  nonsense: 0,
  lastProblem: null,
  problemSinceMs: null,
  aheadTo: 0,
};

/** A witness that is a few blocks behind, or is started anew, cosigns again within this time, milliseconds. */
const LOGGED_AFTER_MS = 30_000;

/** The first 100 printable ASCII characters of what a witness wrote: the status shows them. */
const shortened = (body: string): string => body.replaceAll(/[^ -~]/g, "").slice(0, 100);

/** What a witness answers that cannot judge a checkpoint yet. */
const NOT_READY = 503;

/** The proof that the tree of the checkpoint begins with its first `oldSize` leaves. */
export type ProofFrom<R> = (
  oldSize: number,
) => Effect.Effect<ReadonlyArray<Uint8Array>, StoreUnavailable, R>;

/** What is offered: a log's signature, over a size. */
export type OfferedCheckpoint = Pick<SignedCheckpoint, "text" | "signatures"> & {
  readonly head: { readonly size: number };
};

/** One offer to one witness: its cosignature, the size to begin at, or why there is neither. */
const offer = Effect.fnUntraced(function* <R>(
  proofFrom: ProofFrom<R>,
  checkpoint: OfferedCheckpoint,
  { key, url }: PolicyWitness,
  oldSize: number,
) {
  const client = yield* WitnessClient;
  const { size } = checkpoint.head;
  const body = printAddCheckpoint({
    oldSize,
    proof: yield* proofFrom(oldSize),
    checkpoint: printSignedCheckpoint(checkpoint, []),
  });
  const answer = yield* client.addCheckpoint(url ?? "", body);
  if (answer.status === 409 && answer.contentType === TLOG_SIZE_TYPE) {
    const known = parseTlogSize(answer.body);
    if (known !== undefined && known > size) return { aheadTo: known } as const;
    return known === undefined
      ? ({
          nonsense: `it states to have cosigned another size: ${shortened(answer.body)}`,
        } as const)
      : ({ size: known } as const);
  }
  if (answer.status !== 200)
    return {
      problem: `it answered ${answer.status}`,
      isNotReady: answer.status === NOT_READY,
    } as const;
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

/**
 * A witness's cosignature of a checkpoint, `not_ready` when it cannot give one yet, and null when it gave none for
 * another reason. What it answered is noted. A witness that names the
 * size that it cosigned last gets the proof from there at once, one time.
 */
export const askForCosignature = Effect.fnUntraced(function* <R>(
  proofFrom: ProofFrom<R>,
  checkpoint: OfferedCheckpoint,
  witness: PolicyWitness,
  records: WitnessRecords,
) {
  const note = Effect.fnUntraced(function* (change: Partial<WitnessRecord>, isNonsense = false) {
    const nowMs = yield* monotonicMs;
    const { wasLogged, isLogged, reason } = yield* Ref.modify(records, (known) => {
      const before = known.get(witness.name) ?? NEW_WITNESS;
      const nonsense = before.nonsense + (isNonsense ? 1 : 0);
      const after = { ...before, ...change, nonsense };
      const reason = after.lastProblem;
      const problemSinceMs = reason === null ? null : (before.problemSinceMs ?? nowMs);
      const wasLogged = before.isLogged === true;
      const isOld = problemSinceMs !== null && nowMs - problemSinceMs >= LOGGED_AFTER_MS;
      const isLogged = problemSinceMs !== null && (wasLogged || isOld);
      const record = { ...after, problemSinceMs, isLogged };
      return [{ wasLogged, isLogged, reason }, new Map(known).set(witness.name, record)];
    });
    const { name, url } = witness;
    if (isLogged && !wasLogged)
      yield* Effect.logWarning("a witness of the log does not cosign", {
        witness: name,
        url,
        reason,
        cure: "start it or ask its operator (docs/runbook.md, WitnessCosignatureOld)",
      });
    if (wasLogged && !isLogged)
      yield* Effect.logInfo("the witness cosigns again", { witness: name });
  });
  for (const isTold of [false, true]) {
    const known = (yield* Ref.get(records)).get(witness.name) ?? NEW_WITNESS;
    const oldSize = Math.min(known.size, checkpoint.head.size);
    const outcome = yield* Effect.result(offer(proofFrom, checkpoint, witness, oldSize));
    if (outcome._tag === "Failure") {
      const { failure } = outcome;
      const reason = failure._tag === "WitnessUnreachable" ? failure.reason : "the store is away";
      yield* note({ lastProblem: reason });
    } else if ("cosignature" in outcome.success) {
      yield* note({ size: checkpoint.head.size, lastProblem: null, aheadTo: 0 });
      return outcome.success.cosignature;
    } else if ("size" in outcome.success) {
      const { size } = outcome.success;
      // It may name another size each time.
      const again = "it names another size each time";
      yield* note({ size, aheadTo: 0, ...(isTold ? { lastProblem: again } : {}) });
      if (size !== oldSize) continue;
    } else if ("aheadTo" in outcome.success) {
      const { aheadTo } = outcome.success;
      const lastProblem = `it has cosigned size ${aheadTo}, and this log has less`;
      yield* note({ size: aheadTo, aheadTo, lastProblem });
    } else if ("nonsense" in outcome.success)
      yield* note({ lastProblem: outcome.success.nonsense }, true);
    else {
      yield* note({ lastProblem: outcome.success.problem });
      if (outcome.success.isNotReady) return "not_ready";
    }
    return null;
  }
  return null;
});

/** A witness's cosignature of a checkpoint of the settlement log, as `askForCosignature` gets it. */
export const askWitness = (
  tree: LogTree,
  checkpoint: SignedCheckpoint,
  witness: PolicyWitness,
  records: WitnessRecords,
) =>
  askForCosignature(
    (oldSize) => readConsistencyProof(tree, oldSize, checkpoint.head.size),
    checkpoint,
    witness,
    records,
  );

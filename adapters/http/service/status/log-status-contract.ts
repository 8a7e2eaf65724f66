import { type Static, Type } from "@sinclair/typebox";
import { hash32FromBytes } from "../../../../core/domain/hash32.ts";
import { sha256 } from "../../../../core/domain/sha256.ts";
import { formatUnixTime } from "../../../../core/domain/unix-time.ts";
import { PUBLISHER_STATES } from "../../../../core/use-cases/log/log-publisher.ts";
import { LOG_HINDRANCES } from "../../../../core/use-cases/log/log-standing.ts";
import type { LogStatus } from "../../../../core/use-cases/service/log-status.ts";
import { Count, Hash, nullable, oneOf, record, Time } from "../../openapi/values.ts";

const LogWitness = record("LogWitness", "What this process knows of a witness.", {
  name: Type.String({ description: "Its name in the policy." }),
  size: Count("The size that it cosigned last."),
  nonsense: Count("Answers that were no answer of a witness, since the process began."),
  last_problem: nullable(
    Type.String({ description: "Why the last offer brought no cosignature." }),
  ),
});

/** How the settlement log stands, in the status. */
export const SettlementLogStatus = record("SettlementLogStatus", "How the settlement log stands.", {
  state: oneOf(
    PUBLISHER_STATES,
    "What this process does for the log: `no_key`: another process publishes it; `starting`: no sync of this process has reached it yet; `standby`: another replica holds the lease, and publishes.",
  ),
  origin: nullable(Type.String({ description: "The log's name in checkpoints." }), {
    description: "Null before anything is signed, as are `vkey`, `size` and `root`.",
  }),
  vkey: nullable(Type.String({ description: "The log's key, as a policy names it." })),
  next_vkey: nullable(Type.String({ description: "The key that will sign alone; both do now." }), {
    description: "Null unless keys are rotated.",
  }),
  size: nullable(Count("Leaves of the tree that was signed last.")),
  root: nullable(Hash("Its root.")),
  published_size: nullable(Count("Leaves of the published checkpoint."), {
    description: "Null before the first.",
  }),
  quorum: nullable(
    Type.String({ description: "Which of its witnesses the operator wants, and who cosigned it." }),
    { description: "Null without witnesses, and before the first." },
  ),
  cosigned_at: nullable(Time("The newest time that one of them states."), {
    description: "Null without one.",
  }),
  hindrance: nullable(
    oneOf(LOG_HINDRANCES, "What keeps the log from being published at the index's size."),
    { description: "Null: nothing does." },
  ),
  ended: nullable(Type.String({ description: "Why it signs nothing more." }), {
    description: "Null while it goes on.",
  }),
  predecessors: Type.Array(
    record("EndedLog", "A log that ended before it.", {
      origin: Type.String(),
      size: Count("Leaves that were signed last."),
      cause: Type.String(),
    }),
    { description: "Oldest first." },
  ),
  witnesses: Type.Array(LogWitness, {
    description: "By name; those that this process has offered a checkpoint.",
  }),
  missing_witnesses: Type.Array(Type.String(), {
    description:
      "The names of those that have not cosigned for ten seconds, whether the quorum is met or not.",
  }),
});

/** How the log stands as JSON. */
export type LogStatusRecord = Static<typeof SettlementLogStatus>;

/** How the log stands, as JSON. */
export const logRecord = (log: LogStatus): LogStatusRecord => ({
  state: log.state,
  origin: log.origin,
  vkey: log.vkey,
  next_vkey: log.nextVkey,
  size: log.size,
  root: log.root,
  published_size: log.publishedSize,
  quorum: log.quorum,
  cosigned_at: log.cosignedAt === null ? null : formatUnixTime(log.cosignedAt),
  hindrance: log.hindrance,
  ended: log.ended,
  predecessors: log.predecessors.map(({ origin, size, cause }) => ({ origin, size, cause })),
  witnesses: log.witnesses.map(({ name, size, nonsense, lastProblem }) => ({
    name,
    size,
    nonsense,
    last_problem: lastProblem,
  })),
  missing_witnesses: [...log.missingWitnesses],
});

/** A log that is published. */
export const logStatusExample = (): LogStatus => ({
  state: "publishing",
  origin: "localhost/log/0123456789abcdef/0",
  vkey: "localhost/log/0123456789abcdef/0+01234567+AQ…",
  nextVkey: null,
  size: 8,
  root: hash32FromBytes(sha256(new Uint8Array(1))),
  publishedSize: 8,
  quorum: "quorum witness.example wants 1 of [witness.example]; signed: witness.example",
  cosignedAt: 1_795_244_400n,
  cosignatures: [{ name: "witness.example", time: 1_795_244_400n }],
  hindrance: null,
  ended: null,
  predecessors: [],
  witnesses: [{ name: "witness.example", size: 8, nonsense: 0, lastProblem: null }],
  missingWitnesses: [],
});

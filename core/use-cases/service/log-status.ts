import { Effect } from "effect";
import { type Hash32, hash32ToBytes } from "../../domain/hash32.ts";
import { printVerifierKey, verifierKey } from "../../log/notes/verifier-key.ts";
import type { WitnessRecord } from "../log/gather-cosignatures.ts";
import type { LogHindrance } from "../log/log-hindrance.ts";
import { LogPublisher } from "../log/log-publisher.ts";
import type { EndedLog } from "../log/log-standing.ts";
import { SettlementLog } from "../log/published-log.ts";

/** How the settlement log stands. */
export type LogStatus = {
  readonly origin: string;
  /** The log's key as policies name it. */
  readonly vkey: string;
  /** Size and root that were signed last. */
  readonly size: number;
  readonly root: Hash32;
  /** The size of the published checkpoint, null before the first. */
  readonly publishedSize: number | null;
  readonly hindrance: LogHindrance | null;
  /** Why it signs nothing more, null while it goes on. */
  readonly ended: string | null;
  /** The logs that ended before it, oldest first. */
  readonly predecessors: ReadonlyArray<EndedLog>;
  /** By name; those that this process has offered a checkpoint. */
  readonly witnesses: ReadonlyArray<WitnessRecord & { readonly name: string }>;
};

/** The status of the log that this service publishes; null before anything is signed. Fails like the store. */
export const readLogStatus = Effect.gen(function* () {
  const log = yield* (yield* SettlementLog).published;
  if (log === null) return null;
  const { hindrance, witnesses } = yield* (yield* LogPublisher).status;
  const { signed, publicKey, ended, predecessors } = log.standing;
  const status: LogStatus = {
    origin: signed.origin,
    vkey: printVerifierKey(verifierKey(signed.origin, "ed25519", hash32ToBytes(publicKey))),
    size: signed.size,
    root: signed.root,
    publishedSize: log.checkpoint?.size ?? null,
    hindrance: ended === null ? hindrance : "ended",
    ended,
    predecessors,
    witnesses: [...witnesses]
      .map(([name, { size, nonsense, lastProblem }]) => ({ name, size, nonsense, lastProblem }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  };
  return status;
});

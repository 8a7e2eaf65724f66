import { Effect } from "effect";
import type { Escrow } from "../../../domain/escrow/escrow.ts";
import { RecentlyUsed } from "../../../domain/recently-used.ts";
import type { LogStore } from "../../../../ports/log/log-store.ts";
import { type LogProof, LogProofs } from "./log-proofs.ts";
import { SettlementLog } from "./published-log.ts";
import { proveEscrow } from "./read-log.ts";
import { monotonicMs } from "../../monotonic-time.ts";

/** The least number of proofs kept; twice as many at most. At 3 KB each. */
const KEPT = 2000;

/** How long a packet may show a proof under the checkpoint before, milliseconds: a log publishes one a second at most. */
const CHECKPOINT_FRESH_MS = 100;

/** A proof, and the checkpoint in it. */
type Kept = { readonly checkpoint: string; readonly proof: LogProof };

/** The process's one `LogProofs`. While the store does not answer, escrows have no proof. */
export const makeLogProofs = Effect.gen(function* () {
  const services = yield* Effect.context<LogStore | SettlementLog>();
  const log = yield* SettlementLog;
  const kept = new RecentlyUsed<number, Kept>(KEPT);
  /** The published checkpoint as it was read last. */
  let seen: { readonly checkpoint: string | null; readonly atMs: number } | null = null;
  const find = Effect.fnUntraced(function* (escrow: Escrow, index: number, nowMs: number) {
    const published = yield* log.published;
    const checkpoint = published?.checkpoint?.text ?? null;
    seen = { checkpoint, atMs: nowMs };
    if (checkpoint === null) return null;
    const known = kept.get(index);
    if (known?.checkpoint === checkpoint) return known.proof;
    const proof = yield* proveEscrow(escrow);
    if (proof !== null) kept.set(index, { checkpoint, proof });
    return proof;
  });
  return LogProofs.of({
    ofEscrow: (escrow) =>
      Effect.flatMap(monotonicMs, (nowMs) => {
        const index = Number(escrow.settledSeq ?? escrow.createdSeq);
        const known = kept.get(index);
        const isFresh = seen !== null && nowMs - seen.atMs < CHECKPOINT_FRESH_MS;
        if (known !== undefined && isFresh && known.checkpoint === seen?.checkpoint)
          return Effect.succeed(known.proof);
        return find(escrow, index, nowMs).pipe(
          Effect.orElseSucceed(() => null),
          Effect.provide(services),
        );
      }),
  });
});

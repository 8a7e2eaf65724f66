import { Effect } from "effect";
import type { Escrow } from "../../../domain/escrow/escrow.ts";
import { RecentlyUsed } from "../../../domain/recently-used.ts";
import type { LogStore } from "../../../../ports/log/log-store.ts";
import { type LogProof, LogProofs } from "./log-proofs.ts";
import { SettlementLog } from "./published-log.ts";
import { proveEscrow } from "./read-log.ts";

/** The least number of proofs kept; twice as many at most. At 3 KB each. */
const KEPT = 2000;

/** A proof, and the checkpoint in it. */
type Kept = { readonly checkpoint: string; readonly proof: LogProof };

/** The process's one `LogProofs`. While the store does not answer, escrows have no proof. */
export const makeLogProofs = Effect.gen(function* () {
  const services = yield* Effect.context<LogStore | SettlementLog>();
  const log = yield* SettlementLog;
  const kept = new RecentlyUsed<number, Kept>(KEPT);
  const find = Effect.fnUntraced(function* (escrow: Escrow) {
    const published = yield* log.published;
    const checkpoint = published?.checkpoint?.text;
    if (checkpoint === undefined) return null;
    const index = Number(escrow.settledSeq ?? escrow.createdSeq);
    const known = kept.get(index);
    if (known?.checkpoint === checkpoint) return known.proof;
    const proof = yield* proveEscrow(escrow);
    if (proof !== null) kept.set(index, { checkpoint, proof });
    return proof;
  });
  return LogProofs.of({
    ofEscrow: (escrow) =>
      find(escrow).pipe(
        Effect.orElseSucceed(() => null),
        Effect.provide(services),
        Effect.withSpan("LogProofs.ofEscrow"),
      ),
  });
});

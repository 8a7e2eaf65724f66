import { Effect } from "effect";
import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";
import type { AtSlot } from "../../../ports/ledger/ledger.ts";
import type { AccountScan, ScanEnd } from "./account-scan.ts";
import type { SlotJudgement } from "../pool/highest-slots.ts";
import { monotonicMs } from "../../../core/use-cases/monotonic-time.ts";
import type { NodeFault, NodeFaultKind, NodeUnable } from "../transport/rpc-failure.ts";
import type { PoolLimits } from "../pool/solana-rpc-config.ts";

/**
 * The most bytes held at once: a whole answer that must be parsed, or what follows the accounts. A record is never this
 * long.
 */
const MAX_HELD_BYTES = 16 * 1024 * 1024;

/** How accounts are taken from an arriving answer. */
export type ScanSink = {
  /** Asks for a page with getProgramAccountsV2, and is called with the next page's cursor, null after the last page. */
  readonly paged?: (next: string | null) => void;
  /** Judges an answer by its slot. */
  readonly judge: (slot: number) => SlotJudgement;
  /** The most accounts per chunk. */
  readonly chunkAccounts: number;
  /**
   * Called for each chunk, and once with an empty chunk when there is no account. Reading continues when it is done.
   */
  readonly emit: (chunk: AtSlot<ReadonlyArray<LedgerAccount>>) => Effect.Effect<void>;
};

/** The method that a sink's scan asks for. */
export const scanMethod = ({ paged }: ScanSink): string =>
  paged === undefined ? "getProgramAccounts" : "getProgramAccountsV2";

/** The failures of the node that is read. */
export type ScanFailures = {
  readonly fault: (kind: NodeFaultKind) => NodeFault;
  readonly unreachable: (cause: unknown) => NodeFault;
  readonly behind: () => NodeUnable;
};

/**
 * Reads a body chunk by chunk and hands its accounts on. Reads no more before they are taken. Gives up a body that is
 * idle for `requestTimeoutMs`, or that keeps the reader waiting longer than `callTimeoutMs` in all. Also gives up a
 * body of more than `maxBodyBytes`, not counting skipped records: strangers decide how long those are.
 */
export const scanBody = Effect.fnUntraced(function* (
  body: ReadableStream<Uint8Array>,
  scan: AccountScan,
  limits: PoolLimits,
  sink: ScanSink,
  failures: ScanFailures,
): Effect.fn.Return<ScanEnd, NodeFault | NodeUnable> {
  const reader = body.getReader();
  let bytes = 0;
  let waitedMs = 0;
  let emitted = false;
  let isFirst = true;
  const judged = (slot: number): Effect.Effect<void, NodeFault | NodeUnable> => {
    const judgement = sink.judge(slot);
    if (judgement === "fine") return Effect.void;
    return Effect.fail(judgement === "behind" ? failures.behind() : failures.fault(judgement));
  };
  const emit = (slot: number) => {
    emitted = true;
    return sink.emit({ slot: BigInt(slot), value: scan.take(sink.chunkAccounts) });
  };
  for (;;) {
    const startMs: number = yield* monotonicMs;
    const patienceMs = Math.min(limits.requestTimeoutMs, limits.callTimeoutMs - waitedMs);
    const read = yield* Effect.tryPromise({
      try: () => reader.read(),
      catch: failures.unreachable,
    }).pipe(
      Effect.timeoutOrElse({
        duration: Math.max(0, patienceMs),
        orElse: () => Effect.fail(failures.fault("timeout")),
      }),
    );
    waitedMs += (yield* monotonicMs) - startMs;
    if (read.done) break;
    bytes += read.value.length;
    const fault = scan.push(read.value);
    if (fault !== undefined) return yield* failures.fault(fault);
    if (bytes - scan.passedOver.bytes > limits.maxBodyBytes || scan.heldBytes > MAX_HELD_BYTES) {
      return yield* failures.fault("oversize");
    }
    if (scan.slot === null) continue;
    if (isFirst) yield* judged(scan.slot);
    isFirst = false;
    while (scan.waiting >= sink.chunkAccounts) yield* emit(scan.slot);
  }
  const end = scan.end();
  if (typeof end === "string") return yield* failures.fault(end);
  if ("error" in end) return end;
  if (isFirst) yield* judged(end.slot);
  while (scan.waiting > 0) yield* emit(end.slot);
  if (!emitted) yield* emit(end.slot);
  return end;
});

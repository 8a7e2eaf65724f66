import { Effect } from "effect";
import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";
import { monotonicMs } from "../../../core/use-cases/single-flight.ts";
import type { AtSlot } from "../../../ports/ledger/ledger.ts";
import type { SlotJudgement } from "../pool/highest-slots.ts";
import type { PoolLimits } from "../pool/pool-config.ts";
import type { NodeFault, NodeFaultKind, NodeUnable } from "../transport/rpc-failure.ts";
import type { AccountScan, ScanEnd } from "./account-scan.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Finds the end of a JSON object in bytes that come in pieces. Keeps and checks none of them. */
export class ObjectEnd {
  #depth = 0;
  #inString = false;
  /** Whether an escape in a string continues in the next piece. */
  #escaped = false;

  /**
   * The index after the object's end, -1 when the object continues in the next piece. `at` is where the piece or the
   * object begins.
   */
  find(piece: Buffer, at: number): number {
    let i = at;
    for (;;) {
      if (this.#inString) {
        i = this.#stringEnd(piece, i);
        if (i < 0) return -1;
        this.#inString = false;
      }
      const byte = piece[i++];
      if (byte === undefined) return -1;
      if (byte === QUOTE) this.#inString = true;
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#depth += 1;
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        this.#depth -= 1;
        if (this.#depth === 0) return i;
      }
    }
  }

  /**
   * The index after a string's closing quote. Uses the native search: an account's data can be megabytes without an
   * escape.
   */
  #stringEnd(piece: Buffer, from: number): number {
    for (let searched = from; ;) {
      const quote = piece.indexOf(QUOTE, searched);
      const end = quote < 0 ? piece.length : quote;
      let run = end;
      while (run > from && piece[run - 1] === BACKSLASH) run--;
      const slashes = end - run + (run === from && this.#escaped ? 1 : 0);
      const isEscaped = slashes % 2 === 1;
      if (quote < 0) {
        this.#escaped = isEscaped;
        return -1;
      }
      if (!isEscaped) {
        this.#escaped = false;
        return quote + 1;
      }
      searched = quote + 1;
    }
  }
}

/**
 * The most bytes held at once: a whole answer that must be parsed, or what follows the accounts. A record is never this
 * long.
 */
const MAX_HELD_BYTES = 16 * 1024 * 1024;

/** The most accounts of a chunk. */
const CHUNK_ACCOUNTS = 1000;

/** How accounts are taken from an arriving answer. */
export type ScanSink = {
  /** Asks for a page with getProgramAccountsV2, and is called with the next page's cursor, null after the last page. */
  readonly paged?: (next: string | null) => void;
  /** Judges an answer by its slot. */
  readonly judge: (slot: number) => SlotJudgement;
  /**
   * Called for each chunk, and once with an empty chunk when there is no account. Reading continues when it is done.
   */
  readonly emit: (chunk: AtSlot<ReadonlyArray<LedgerAccount>>) => Effect.Effect<void>;
};

/** The method that a sink's scan asks for. */
export const scanMethod = ({ paged }: ScanSink): string =>
  paged === undefined ? "getProgramAccounts" : "getProgramAccountsV2";

/** The failures of the node that is read. */
type ScanFailures = {
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
    return sink.emit({ slot: BigInt(slot), value: scan.take(CHUNK_ACCOUNTS) });
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
    while (scan.waiting >= CHUNK_ACCOUNTS) yield* emit(scan.slot);
  }
  const end = scan.end();
  if (typeof end === "string") return yield* failures.fault(end);
  if ("error" in end) return end;
  if (isFirst) yield* judged(end.slot);
  while (scan.waiting > 0) yield* emit(end.slot);
  if (!emitted) yield* emit(end.slot);
  return end;
});

import type { NodeReport } from "../../../ports/ledger/node-reports.ts";
import type { NodeFailure } from "../transport/rpc-failure.ts";

/** The weight of the newest answer in the moving average of latency: about the last ten count. */
const NEWEST = 0.1;

/**
 * How long after its pause a node that nobody has asked again still counts as paused, milliseconds. So one that stays away
 * counts so without a gap at each new attempt.
 */
const UNTIL_ASKED_MS = 60_000;

/** Counts how one node serves, for all pools. Times are milliseconds of a monotonic clock. */
export class NodeTally {
  readonly #address: string;
  readonly #place: number;
  readonly #faults = new Map<string, number>();
  #latencyMs: number | null = null;
  #answered = 0;
  #refusals = 0;
  #failovers = 0;
  #pausedUntilMs = 0;

  constructor(address: string, place: number) {
    this.#address = address;
    this.#place = place;
  }

  /** The node answered, with a result. */
  answered(tookMs: number): void {
    this.#answered += 1;
    this.#latencyMs =
      this.#latencyMs === null ? tookMs : this.#latencyMs + NEWEST * (tookMs - this.#latencyMs);
    this.#pausedUntilMs = 0;
  }

  /** The node gave no result. */
  failed(failure: NodeFailure): void {
    if (failure._tag === "RpcRefusal") this.#refusals += 1;
    else this.#faults.set(failure.kind, (this.#faults.get(failure.kind) ?? 0) + 1);
  }

  /** Callers keep away from it until then. */
  paused(untilMs: number): void {
    this.#pausedUntilMs = untilMs;
  }

  /** Another node was asked in its place. */
  passedOver(): void {
    this.#failovers += 1;
  }

  report(nowMs: number): NodeReport {
    return {
      address: this.#address,
      place: this.#place,
      latencyMs: this.#latencyMs,
      answered: this.#answered,
      faults: new Map(this.#faults),
      refusals: this.#refusals,
      failovers: this.#failovers,
      isPaused: this.#pausedUntilMs > 0 && nowMs < this.#pausedUntilMs + UNTIL_ASKED_MS,
    };
  }
}

import { Deferred, Effect } from "effect";

/** The right to ask a node. Give it back with exactly one of `succeeded`, `failed` or `abandoned`. */
export type Ticket = { readonly generation: number; readonly isProbe: boolean };

/** Whether a node may be asked now, and if not, what to wait for. */
export type Admission =
  | { readonly _tag: "Admitted"; readonly ticket: Ticket }
  | { readonly _tag: "Cooling"; readonly untilMs: number }
  | { readonly _tag: "Probing"; readonly over: Effect.Effect<void> };

/**
 * Keeps callers away from a node that failed. It is closed while the node works, and open until a cool-down ends. Then
 * one probe at a time may pass, and its outcome closes or opens it again. Times are milliseconds of a monotonic clock.
 * Each opening and closing starts a new generation, and outcomes of earlier generations do not count. So fifty requests
 * that fail together are one failure.
 */
export class CircuitBreaker {
  #generation = 0;
  #failures = 0;
  #openUntilMs: number | null = null;
  #probe: Deferred.Deferred<void> | null = null;

  /** The node's failures since its last success. */
  get failures(): number {
    return this.#failures;
  }

  admit(nowMs: number): Admission {
    if (this.#openUntilMs === null) return this.#admitted(false);
    if (nowMs < this.#openUntilMs) return { _tag: "Cooling", untilMs: this.#openUntilMs };
    if (this.#probe !== null) return { _tag: "Probing", over: Deferred.await(this.#probe) };
    this.#probe = Deferred.makeUnsafe();
    return this.#admitted(true);
  }

  succeeded(ticket: Ticket): void {
    if (ticket.generation !== this.#generation) return;
    this.#failures = 0;
    if (ticket.isProbe) this.#turn(null);
  }

  /** Opens the breaker until `untilMs`. False when the failure belongs to an earlier generation. */
  failed(ticket: Ticket, untilMs: number): boolean {
    if (ticket.generation !== this.#generation) return false;
    this.#failures += 1;
    this.#turn(untilMs);
    return true;
  }

  /** The request ended without an outcome, because its caller left. */
  abandoned(ticket: Ticket): void {
    if (ticket.isProbe && ticket.generation === this.#generation) this.#endProbe();
  }

  #admitted(isProbe: boolean): Admission {
    return { _tag: "Admitted", ticket: { generation: this.#generation, isProbe } };
  }

  #turn(openUntilMs: number | null): void {
    this.#generation += 1;
    this.#openUntilMs = openUntilMs;
    this.#endProbe();
  }

  #endProbe(): void {
    const probe = this.#probe;
    this.#probe = null;
    if (probe !== null) Deferred.doneUnsafe(probe, Effect.void);
  }
}

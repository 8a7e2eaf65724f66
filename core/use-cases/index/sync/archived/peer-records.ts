/** What is known of a peer that is asked for archived escrows, since the process began. */
export type PeerRecord = {
  /** Packets whose account the ledger's digest confirmed. */
  readonly used: number;
  /** Answers that were none in time, no packet, or not what the ledger kept. */
  readonly ignored: number;
};

/** A peer with a useless answer is left alone for this long, milliseconds. */
export const PEER_RESTS_MS = 60_000;

type Known = PeerRecord & { readonly restsUntilMs: number; readonly problem: string | null };

const NEW: Known = { used: 0, ignored: 0, restsUntilMs: Number.NEGATIVE_INFINITY, problem: null };

/** How the peers' answers went, and which peers are left alone. */
export class PeerRecords {
  readonly #peers = new Map<string, Known>();

  /** By name; those that were asked with an outcome to count. */
  get all(): ReadonlyMap<string, PeerRecord> {
    return new Map(
      Array.from(this.#peers, ([name, { used, ignored }]) => [name, { used, ignored }]),
    );
  }

  /** Whether a peer is left alone at a time of a monotonic clock, milliseconds. */
  isResting(name: string, nowMs: number): boolean {
    return nowMs < (this.#peers.get(name) ?? NEW).restsUntilMs;
  }

  /** Counts a packet that was believed. */
  used(name: string): void {
    const known = this.#peers.get(name) ?? NEW;
    this.#peers.set(name, { ...known, used: known.used + 1, problem: null });
  }

  /** Counts a useless answer; says whether its reason is another one than the last. */
  ignored(name: string, problem: string, nowMs: number): boolean {
    const known = this.#peers.get(name) ?? NEW;
    const restsUntilMs = nowMs + PEER_RESTS_MS;
    this.#peers.set(name, { ...known, ignored: known.ignored + 1, restsUntilMs, problem });
    return known.problem !== problem;
  }
}

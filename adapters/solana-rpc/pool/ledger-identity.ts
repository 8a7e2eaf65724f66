import { Effect } from "effect";
import { parseAddress } from "../../../core/domain/address.ts";
import type { LedgerStanding } from "../../../ports/ledger/ledger-record.ts";
import type { JsonRpcClient } from "../transport/json-rpc-client.ts";
import { monotonicMs } from "../../../core/use-cases/single-flight.ts";
import { NodeFault, type NodeFailure } from "../transport/rpc-failure.ts";
import type { PoolLimits, SolanaRpcConfig } from "./pool-config.ts";

/** How long a node's genesis hash is believed, milliseconds: another node can take over its address. */
const BELIEVED_MS = 60_000;
/** The same after the node showed a slot out of reach, milliseconds: so does a node of another ledger. */
const BELIEVED_OUT_OF_REACH_MS = 5_000;

/**
 * Checks that every node serves one ledger: the one whose genesis hash was shown first. Operators list the node they
 * trust most first. Of several nodes, each shows its hash before its answers count. A single one is checked once a hash
 * is recorded. Each shows it again every minute, after it could not be reached, and after it showed a slot out of reach.
 */
export class LedgerIdentity {
  readonly #limits: PoolLimits;
  readonly #isOneOfSeveral: boolean;
  readonly #confirmedMs = new Map<JsonRpcClient, number>();
  /** The nodes whose last genesis hash was that of another ledger. */
  readonly #others = new Set<JsonRpcClient>();
  #wasShown = false;
  #genesisHash: string | null;

  constructor({ pools, urls, genesisHash }: SolanaRpcConfig) {
    this.#limits = pools.single;
    this.#isOneOfSeveral = urls.length > 1;
    this.#genesisHash = genesisHash;
  }

  /** The genesis hash that is configured, adopted or was shown first, null before. */
  get recorded(): string | null {
    return this.#genesisHash;
  }

  /** Takes a genesis hash for the ledger's, unless one is recorded. Returns the recorded one. */
  adopt(genesisHash: string): string {
    return (this.#genesisHash ??= genesisHash);
  }

  /** How the nodes stand to the recorded genesis hash. */
  get standing(): LedgerStanding {
    if (this.#genesisHash === null) return "unknown";
    if (this.#others.size > 0 && this.#confirmedMs.size === 0) return "contradicted";
    return this.#wasShown ? "confirmed" : "recorded";
  }

  /** Whether the node must show its genesis hash before it is asked for anything else. */
  isDue(client: JsonRpcClient, nowMs: number): boolean {
    if (!this.#isOneOfSeveral && this.#genesisHash === null) return false;
    const confirmedMs = this.#confirmedMs.get(client);
    return confirmedMs === undefined || nowMs - confirmedMs >= BELIEVED_MS;
  }

  /** Fails with a node fault when the node serves another ledger, or does not show which. */
  confirm(client: JsonRpcClient): Effect.Effect<void, NodeFailure> {
    return Effect.flatMap(monotonicMs, (nowMs) => {
      if (!this.isDue(client, nowMs)) return Effect.void;
      // Other requests do not wait for the check of a node that was confirmed a minute ago.
      if (this.#confirmedMs.has(client)) this.#confirmedMs.set(client, nowMs);
      const asking = Effect.onError(client.ask("getGenesisHash", [], this.#limits), () =>
        Effect.sync(() => this.doubt(client)),
      );
      return Effect.flatMap(asking, (hash) => this.judge(client, hash));
    });
  }

  /** The same check, on the node's answer to getGenesisHash. */
  judge(client: JsonRpcClient, hash: unknown): Effect.Effect<void, NodeFailure> {
    return Effect.flatMap(monotonicMs, (nowMs) => {
      const kind = this.#faultOf(hash);
      if (kind === null) {
        this.#wasShown = true;
        this.#others.delete(client);
        this.#confirmedMs.set(client, nowMs);
        return Effect.void;
      }
      this.doubt(client);
      if (kind === "wrong_ledger") this.#others.add(client);
      const { node } = client;
      const method = "getGenesisHash";
      return Effect.fail(new NodeFault({ node, method, kind, code: null, retryAfterMs: null }));
    });
  }

  /** Forces a new check of the node: another one may have taken its address. */
  doubt(client: JsonRpcClient): void {
    this.#confirmedMs.delete(client);
  }

  /** Forces a new check of a node that showed a slot out of reach, unless it was confirmed just before. */
  doubtSlots(client: JsonRpcClient, nowMs: number): void {
    const confirmedMs = this.#confirmedMs.get(client);
    if (confirmedMs !== undefined && nowMs - confirmedMs >= BELIEVED_OUT_OF_REACH_MS)
      this.doubt(client);
  }

  #faultOf(hash: unknown): "malformed" | "wrong_ledger" | null {
    // A hash is 32 bytes in base58, like an address.
    if (typeof hash !== "string" || parseAddress(hash) === undefined) return "malformed";
    this.#genesisHash ??= hash;
    return hash === this.#genesisHash ? null : "wrong_ledger";
  }
}

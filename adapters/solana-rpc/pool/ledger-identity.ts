import { Effect } from "effect";
import { parseAddress } from "../../../core/domain/address.ts";
import type { JsonRpcClient } from "../transport/json-rpc-client.ts";
import type { NodeFailure } from "./pooled-node.ts";
import { NodeFault } from "../transport/rpc-failure.ts";
import type { PoolLimits } from "./solana-rpc-config.ts";

/**
 * Holds several nodes to one ledger: before a node's answers count, and again after it could not be reached,
 * it must show the genesis hash that the first node to answer showed. An operator's order of
 * addresses is an order of trust.
 */
export class LedgerIdentity {
  readonly #limits: PoolLimits;
  readonly #confirmed = new Set<JsonRpcClient>();
  #genesisHash: string | null = null;

  constructor(limits: PoolLimits) {
    this.#limits = limits;
  }

  /** Fails with a fault of the node's when it is of another ledger, or does not say of which. */
  confirm(client: JsonRpcClient): Effect.Effect<void, NodeFailure> {
    return Effect.suspend(() =>
      this.#confirmed.has(client)
        ? Effect.void
        : Effect.flatMap(client.ask("getGenesisHash", [], this.#limits), (hash) =>
            this.judge(client, hash),
          ),
    );
  }

  /** The same, by what the node answered to getGenesisHash. */
  judge(client: JsonRpcClient, hash: unknown): Effect.Effect<void, NodeFailure> {
    const fault = this.#faultOf(hash);
    if (fault !== null) {
      const { node } = client;
      return Effect.fail(new NodeFault({ node, kind: fault, code: null, retryAfterMs: null }));
    }
    this.#confirmed.add(client);
    return Effect.void;
  }

  /** The node is to be asked again: another one may have taken its place. */
  doubt(client: JsonRpcClient): void {
    this.#confirmed.delete(client);
  }

  #faultOf(hash: unknown): "malformed" | "wrong_ledger" | null {
    // A hash is 32 bytes in base58, exactly like an address.
    if (typeof hash !== "string" || parseAddress(hash) === undefined) return "malformed";
    this.#genesisHash ??= hash;
    return hash === this.#genesisHash ? null : "wrong_ledger";
  }
}

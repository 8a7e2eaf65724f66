import { Effect } from "effect";
import { parseAddress } from "../../../core/domain/address.ts";
import type { JsonRpcClient } from "../transport/json-rpc-client.ts";
import type { NodeFailure } from "./pooled-node.ts";
import { NodeFault } from "../transport/rpc-failure.ts";
import type { PoolLimits } from "./solana-rpc-config.ts";

/**
 * Checks that several nodes serve one ledger. A node must show the genesis hash of the first node that answered. It
 * must do so before its answers count, and again after it could not be reached. Operators list the node they trust most
 * first.
 */
export class LedgerIdentity {
  readonly #limits: PoolLimits;
  readonly #confirmed = new Set<JsonRpcClient>();
  #genesisHash: string | null = null;

  constructor(limits: PoolLimits) {
    this.#limits = limits;
  }

  /** Fails with a node fault when the node serves another ledger, or does not show which. */
  confirm(client: JsonRpcClient): Effect.Effect<void, NodeFailure> {
    return Effect.suspend(() =>
      this.#confirmed.has(client)
        ? Effect.void
        : Effect.flatMap(client.ask("getGenesisHash", [], this.#limits), (hash) =>
            this.judge(client, hash),
          ),
    );
  }

  /** The same check, on the node's answer to getGenesisHash. */
  judge(client: JsonRpcClient, hash: unknown): Effect.Effect<void, NodeFailure> {
    const fault = this.#faultOf(hash);
    if (fault !== null) {
      const { node } = client;
      return Effect.fail(new NodeFault({ node, kind: fault, code: null, retryAfterMs: null }));
    }
    this.#confirmed.add(client);
    return Effect.void;
  }

  /** Forces a new check of the node: another one may have taken its address. */
  doubt(client: JsonRpcClient): void {
    this.#confirmed.delete(client);
  }

  #faultOf(hash: unknown): "malformed" | "wrong_ledger" | null {
    // A hash is 32 bytes in base58, like an address.
    if (typeof hash !== "string" || parseAddress(hash) === undefined) return "malformed";
    this.#genesisHash ??= hash;
    return hash === this.#genesisHash ? null : "wrong_ledger";
  }
}

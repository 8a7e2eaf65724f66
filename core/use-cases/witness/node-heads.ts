import { Effect } from "effect";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import { hash32ToBytes } from "../../domain/hash32.ts";
import { isSameHash } from "../../log/tree/tree-hash.ts";
import { decodeCustodyConfigAccount } from "../../protocol/accounts/settings-accounts.ts";
import { custodyConfigAddress } from "../../protocol/addresses/addresses.ts";
import type { Ledger } from "../../../ports/ledger/ledger.ts";
import { WitnessNotReady } from "./witness-errors.ts";

/** How many events the ledger counts, and the chain over them. */
export type NodeHead = {
  readonly count: number;
  /** 32 bytes */
  readonly head: Uint8Array;
};

/**
 * Heads that are remembered. A log offers one checkpoint for at most 60 s, so those of a few minutes suffice even when each
 * second brings another.
 */
const MAX_REMEMBERED = 256;

/** The finalized heads that the witness's own node has shown, by their counts. */
export class NodeHeads {
  readonly #heads = new Map<number, NodeHead>();

  /** Remembers a head. False when another one of the same count is remembered, which is then forgotten. */
  add(read: NodeHead): boolean {
    const known = this.#heads.get(read.count);
    if (known !== undefined && !isSameHash(known.head, read.head)) {
      this.#heads.delete(read.count);
      return false;
    }
    this.#heads.set(read.count, read);
    if (this.#heads.size > MAX_REMEMBERED) this.forget(Math.min(...this.#heads.keys()));
    return true;
  }

  /** The remembered head with the smallest count from `count` on. */
  firstFrom(count: number): NodeHead | undefined {
    let first: NodeHead | undefined;
    for (const each of this.#heads.values())
      if (each.count >= count && (first === undefined || each.count < first.count)) first = each;
    return first;
  }

  /** Forgets the head of a count. */
  forget(count: number): void {
    this.#heads.delete(count);
  }
}

/** Asking the node again sooner than its blocks come is of no use. */
const NODE_AGAIN_SECONDS = 2;

const unavailable = new WitnessNotReady({
  lack: "node_unavailable",
  retrySeconds: NODE_AGAIN_SECONDS,
});

/** Reads count and head of the custody program at `finalized`. Fails with `node_unavailable` when no node shows them. */
export const readNodeHead = (
  ledger: Ledger["Service"],
  deployment: Deployment,
): Effect.Effect<NodeHead, WitnessNotReady> =>
  Effect.gen(function* () {
    const { address } = custodyConfigAddress(deployment);
    const { value } = yield* ledger
      .readAccounts([address], "finalized")
      .pipe(Effect.mapError(() => unavailable));
    const [account] = value;
    if (account === null || account === undefined) return yield* unavailable;
    const config = decodeCustodyConfigAccount(account, deployment);
    if ("fault" in config) return yield* unavailable;
    const count = Number(config.value.count);
    if (!Number.isSafeInteger(count)) return yield* unavailable;
    return { count, head: hash32ToBytes(config.value.head) };
  });

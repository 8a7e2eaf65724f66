import { Effect, Queue, Stream } from "effect";
import type { Ledger } from "../../../ports/ledger/ledger.ts";
import { LedgerSignals } from "../../../ports/ledger/ledger-signals.ts";
import type { Address } from "../../domain/address.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import { hash32FromBytes } from "../../domain/hash32.ts";
import { edgeOf } from "../../log/tree/frontier.ts";
import type { TreeHead } from "../../log/tree/tree-edge.ts";
import { isSameHash } from "../../log/tree/tree-hash.ts";
import {
  decodeCustodyConfigAccount,
  ledgerDomain,
} from "../../protocol/accounts/settings-accounts.ts";
import { custodyConfigAddress } from "../../protocol/addresses/addresses.ts";
import { WitnessNotReady } from "./witness-errors.ts";

/** Roots that are remembered, those of half an hour even when each finalized block brings another. */
const MOST_REMEMBERED = 4096;

/** The finalized roots of the log that the witness's own node has shown, by their sizes. */
export class NodeRoots {
  readonly #heads = new Map<number, TreeHead>();

  /** Remembers a root, unless another one of the same size is remembered. Says whether none is. */
  add(read: TreeHead): boolean {
    const before = this.at(read.size);
    if (before !== undefined) return isSameHash(before, read.root);
    this.#heads.set(read.size, read);
    const [oldest] = this.#heads.keys();
    if (oldest !== undefined && this.#heads.size > MOST_REMEMBERED) this.#heads.delete(oldest);
    return true;
  }

  /** The root at a size, where it is remembered. */
  at(size: number): Uint8Array | undefined {
    return this.#heads.get(size)?.root;
  }

  /** The remembered root of the smallest size from `size` on. */
  firstFrom(size: number): TreeHead | undefined {
    let first: TreeHead | undefined;
    for (const each of this.#heads.values())
      if (each.size >= size && (first === undefined || each.size < first.size)) first = each;
    return first;
  }

  /** Forgets all of them: a node that was wrong about one size was wrong about others. */
  forget(): void {
    this.#heads.clear();
  }
}

/** Between two reads of a node that tells nothing, and before it is asked again after none was shown. */
const LOOK_EVERY_SECONDS = 2;

const unavailable = new WitnessNotReady({
  lack: "node_unavailable",
  retrySeconds: LOOK_EVERY_SECONDS,
});

/** The network of a witness: its programs, and the genesis hash of its node's ledger. */
export type WitnessNetwork = { readonly deployment: Deployment; readonly genesisHash: Address };

/** Reads size and root of the log from the custody program, at `finalized`. Fails with `node_unavailable` when no node shows them. */
export const readNodeRoot = (
  ledger: Ledger["Service"],
  { deployment, genesisHash }: WitnessNetwork,
): Effect.Effect<TreeHead, WitnessNotReady> =>
  Effect.gen(function* () {
    const { address } = custodyConfigAddress(deployment);
    const { value } = yield* ledger
      .readAccounts([address], "finalized")
      .pipe(Effect.mapError(() => unavailable));
    const [account] = value;
    if (account === null || account === undefined) return yield* unavailable;
    const config = decodeCustodyConfigAccount(account, deployment);
    if ("fault" in config) return yield* unavailable;
    const domain = hash32FromBytes(ledgerDomain(genesisHash, deployment.custodyProgram));
    if (config.value.domain !== domain) return yield* unavailable;
    const edge = edgeOf(config.value);
    return { size: edge.size, root: edge.root() };
  });

/**
 * Looks at the node for as long as it runs: when the ledger signals a change, and every two seconds. `look` reads it and remembers
 * what it shows.
 */
export const followNode = Effect.fnUntraced(function* (
  look: Effect.Effect<unknown, WitnessNotReady>,
) {
  const { changes } = yield* LedgerSignals;
  const news = yield* Queue.sliding<null>(1);
  yield* Effect.forkChild(Stream.runForEach(changes, () => Queue.offer(news, null)));
  for (;;) {
    yield* Effect.ignore(look);
    yield* Effect.timeoutOption(Queue.take(news), `${LOOK_EVERY_SECONDS} seconds`);
  }
});

import { Clock, Duration, Effect, Semaphore } from "effect";
import { CallPurpose } from "../../../ports/ledger/ledger-calls.ts";
import type { Ledger } from "../../../ports/ledger/ledger.ts";
import type { ShownConfig } from "../../../ports/log/witness-state.ts";
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

/** Accounts that are remembered of the newest sizes: a log offers what its own node has shown seconds before. */
const MOST_CONFIGS = 64;

/** A root, and the account that it is read from. */
type ShownRoot = TreeHead & { readonly config: ShownConfig };

/** What a node showed, and when it was asked, in Unix milliseconds. */
type ShownHead = TreeHead & { readonly askedAtMs: number };

/** The finalized roots of the log that the witness's own node has shown, by their sizes. */
export class NodeRoots {
  readonly #heads = new Map<number, ShownHead>();
  /** The accounts of the newest sizes, the last one shown last. */
  readonly #configs = new Map<number, ShownConfig>();
  #newest: ShownHead | null = null;

  /**
   * The newest answer of the node; null before the first, after one that failed, and after one that contradicted
   * another.
   */
  get newest(): ShownHead | null {
    return this.#newest;
  }

  /** Notes that the node's newest answer says nothing: what it showed before stays remembered. */
  failed(): void {
    this.#newest = null;
  }

  /** Remembers a root, unless another one of the same size is remembered. Says whether none is. */
  add({ size, root, config }: ShownRoot, askedAtMs: number): boolean {
    const before = this.at(size);
    if (before !== undefined && !isSameHash(before, root)) return false;
    const read = { size, root, askedAtMs };
    this.#newest = read;
    this.#configs.delete(size);
    this.#configs.set(size, config);
    const [first] = this.#configs.keys();
    if (first !== undefined && this.#configs.size > MOST_CONFIGS) this.#configs.delete(first);
    if (before !== undefined) return true;
    this.#heads.set(size, read);
    const [oldest] = this.#heads.keys();
    if (oldest !== undefined && this.#heads.size > MOST_REMEMBERED) this.#heads.delete(oldest);
    return true;
  }

  /** The root at a size, where it is remembered. */
  at(size: number): Uint8Array | undefined {
    return this.#heads.get(size)?.root;
  }

  /** The account that the node showed at a size, or else the newest one; undefined where none is remembered. */
  configFor(size: number): ShownConfig | undefined {
    return this.#configs.get(size) ?? [...this.#configs.values()].at(-1);
  }

  /**
   * The remembered root of the smallest size from `size` on, among those that the node first showed before `beforeMs`.
   */
  firstFrom(size: number, beforeMs = Infinity): TreeHead | undefined {
    let first: ShownHead | undefined;
    for (const each of this.#heads.values())
      if (each.size >= size && each.askedAtMs < beforeMs && each.size < (first?.size ?? Infinity))
        first = each;
    return first;
  }

  /** Forgets all of them: a node that was wrong about one size was wrong about others. */
  forget(): void {
    this.#heads.clear();
    this.#configs.clear();
    this.#newest = null;
  }
}

/** Between two reads of a node whose news cannot be relied on, and before it is asked again after none was shown. */
const LOOK_EVERY_SECONDS = 2;

const unavailable = new WitnessNotReady({
  lack: "node_unavailable",
  retrySeconds: LOOK_EVERY_SECONDS,
});

/** The network of a witness: its programs, and the genesis hash of its node's ledger. */
export type WitnessNetwork = { readonly deployment: Deployment; readonly genesisHash: Address };

/**
 * Reads size and root of the log from the custody program, at `finalized`. Fails with `node_unavailable` when no node
 * shows them.
 */
export const readNodeRoot = (
  ledger: Ledger["Service"],
  { deployment, genesisHash }: WitnessNetwork,
): Effect.Effect<ShownRoot, WitnessNotReady> =>
  Effect.gen(function* () {
    const { address } = custodyConfigAddress(deployment);
    const { slot, value } = yield* ledger
      .readAccounts([address], "finalized")
      .pipe(Effect.mapError(() => unavailable));
    const [account] = value;
    if (account === null || account === undefined) return yield* unavailable;
    const config = decodeCustodyConfigAccount(account, deployment);
    if ("fault" in config) return yield* unavailable;
    const domain = hash32FromBytes(ledgerDomain(genesisHash, deployment.custodyProgram));
    if (config.value.domain !== domain) return yield* unavailable;
    const edge = edgeOf(config.value);
    const { owner, data } = account;
    return { size: edge.size, root: edge.root(), config: { slot, owner, data } };
  }).pipe(Effect.provideService(CallPurpose, "witness"));

/**
 * How old an answer of the node may be that a cosignature of a remembered size rests on: that of the last regular look.
 */
export const FRESH_FOR_MS = Duration.toMillis(Duration.seconds(LOOK_EVERY_SECONDS));

/**
 * A look at the node that callers share. It returns the node's newest answer if the node was asked for it after
 * `sinceMs` (Unix milliseconds), and asks it otherwise. Only one asks at a time. What the node shows is remembered;
 * `add` says whether it may be.
 */
export const sharedLook = Effect.fnUntraced(function* (
  roots: NodeRoots,
  read: Effect.Effect<ShownRoot, WitnessNotReady>,
  contradicted: Effect.Effect<never, WitnessNotReady>,
) {
  const asking = yield* Semaphore.make(1);
  return (sinceMs: number): Effect.Effect<TreeHead, WitnessNotReady> =>
    asking.withPermit(
      Effect.gen(function* () {
        const { newest } = roots;
        if (newest !== null && newest.askedAtMs > sinceMs) return newest;
        const askedAtMs = yield* Clock.currentTimeMillis;
        const shown = yield* Effect.tapError(read, () => Effect.sync(() => roots.failed()));
        return roots.add(shown, askedAtMs) ? shown : yield* contradicted;
      }),
    );
});

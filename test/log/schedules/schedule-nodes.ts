import { Effect, Stream } from "effect";
import type { Address } from "../../../core/domain/address.ts";
import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";
import type { Ledger, LedgerNodes } from "../../../ports/ledger/ledger.ts";
import { changed, type Lie, lying } from "../../world/port-faults.ts";
import type { WeatheredChain } from "../../world/weathered-chain.ts";

/** What a node does besides answering late: nothing, wrong accounts, or a whole other history. */
export type Mood = "honest" | "lying" | "forked";

/** One configured node: an entry before shards, each of which is some slots behind. */
type Node = {
  mood: Mood;
  /** The slots that its shards are behind. Each call reaches any of them. */
  shards: ReadonlyArray<number>;
  readonly honest: Ledger["Service"];
  readonly liar: Ledger["Service"];
  readonly forked: Ledger["Service"];
};

/** The nodes of a schedule, over the ledger and over a fork of it that only a liar shows. */
export class ScheduleNodes {
  readonly nodes: ReadonlyArray<Node>;
  readonly #random: () => number;
  readonly #lies = new Map<Address, Lie>();
  /** The node that answers, where a sync asks one only. */
  #sticky: Node | null = null;

  constructor(
    count: number,
    { ledger, fork }: { readonly ledger: WeatheredChain; readonly fork: WeatheredChain },
    random: () => number,
  ) {
    this.#random = random;
    this.nodes = Array.from({ length: count }, () => {
      const lag = (): bigint => BigInt(this.#any(node.shards) ?? 0);
      const honest = ledger.portBehind(lag);
      const node: Node = {
        mood: "honest",
        shards: [0],
        honest,
        liar: lying(honest, this.#lies),
        forked: fork.portBehind(lag),
      };
      return node;
    });
  }

  /** Draws how each node behaves from now on. `mayFork` says whether one may show another history. */
  stir(ledger: WeatheredChain, mayFork: boolean): void {
    const random = this.#random;
    this.calm();
    this.#sticky = random() < 0.5 ? (this.#any(this.nodes) ?? null) : null;
    if (random() < 0.4)
      for (const node of this.nodes)
        node.shards = Array.from({ length: 1 + Math.floor(random() * 3) }, () =>
          random() < 0.6 ? 0 : Math.floor(random() * 250),
        );
    const [bad] = this.nodes;
    if (bad === undefined || random() < 0.5) return;
    bad.mood = mayFork && this.nodes.length > 1 ? "forked" : "lying";
    if (random() < 0.5) this.#sticky = bad;
    const share = random() < 0.5 ? 0.03 : 0.4;
    this.#lies.clear();
    for (const address of [...ledger.escrows.keys(), ledger.custodyLog.address])
      if (random() < share) this.#lies.set(address, this.#lie());
  }

  /** From now on every node is honest and at the ledger's slot. */
  calm(): void {
    for (const node of this.nodes) {
      node.mood = "honest";
      node.shards = [0];
    }
    this.#sticky = null;
  }

  /** The Ledger port of a pool in which any node answers each call, or one of them for a while. */
  readonly pool: Ledger["Service"] = {
    genesisHash: this.#asked((port) => port.genesisHash),
    confirmIdentity: this.#asked((port) => port.confirmIdentity),
    tip: (commitment) => this.#asked((port) => port.tip(commitment)),
    readAccounts: (...asked) => this.#asked((port) => port.readAccounts(...asked)),
    programAccounts: (...asked) => Stream.suspend(() => this.#port().programAccounts(...asked)),
    history: (...asked) => this.#asked((port) => port.history(...asked)),
    transaction: (signature) => this.#asked((port) => port.transaction(signature)),
  };

  /** Each node by itself. */
  get each(): LedgerNodes["Service"] {
    return {
      count: this.nodes.length,
      readFromEach: (address) =>
        Effect.forEach(this.nodes, (node) =>
          this.#portOf(node)
            .readAccounts([address], "finalized")
            .pipe(
              Effect.map(({ slot, value }) => ({ slot, value: value[0] ?? null })),
              Effect.orElseSucceed(() => null),
            ),
        ),
    };
  }

  #asked<A, E>(ask: (port: Ledger["Service"]) => Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.suspend(() => ask(this.#port()));
  }

  #port(): Ledger["Service"] {
    const node = this.#sticky ?? this.#any(this.nodes);
    if (node === undefined) throw new Error("there is a node");
    return this.#portOf(node);
  }

  #portOf({ mood, honest, liar, forked }: Node): Ledger["Service"] {
    return mood === "honest" ? honest : mood === "lying" ? liar : forked;
  }

  #any<T>(all: ReadonlyArray<T>): T | undefined {
    return all[Math.floor(this.#random() * all.length)];
  }

  #lie(): Lie {
    const [kind, place, bit] = [this.#random(), this.#random(), this.#random()];
    if (kind < 0.4) return () => null;
    return (account: LedgerAccount) =>
      changed(account, (data) => {
        const at = Math.floor(place * data.length);
        data[at] = (data[at] ?? 0) ^ (1 << Math.floor(bit * 8));
      });
  }
}

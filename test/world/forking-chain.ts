import type { ChainView } from "./chain.ts";
import { SettlementChain } from "./settlement-chain.ts";

type Step = { readonly slot: bigint; readonly act: (chain: SettlementChain) => void };

/** The slots after which a block is final here. */
const FINALITY = 32n;

/** A chain on which a fork can take back what is not final, and land other transactions in its place. */
export class ForkingChain {
  /** The chain that the nodes' supermajority has voted for. */
  current: SettlementChain;
  #steps: Array<Step> = [];

  constructor() {
    this.current = this.#replayed(1040n);
  }

  /** The finalized slot. */
  get finalized(): bigint {
    return this.current.slot - FINALITY;
  }

  /** The steps that a fork can take back, oldest first. */
  get unfinal(): ReadonlyArray<Step> {
    return this.#steps.filter(({ slot }) => slot > this.finalized);
  }

  /** Lets slots pass. */
  pass(slots: number): void {
    this.current.slot += BigInt(slots);
  }

  /** Lands a step in this slot. */
  land(act: Step["act"]): void {
    this.#steps.push({ slot: this.current.slot, act });
    act(this.current);
  }

  /** Takes back all but the first `kept` steps that are not final. */
  fork(kept: number): ReadonlyArray<Step["act"]> {
    const open = this.unfinal;
    const undone = open.slice(kept);
    this.#steps = this.#steps.filter((step) => !undone.includes(step));
    this.current = this.#replayed(this.current.slot + 1n);
    return undone.map(({ act }) => act);
  }

  #replayed(slot: bigint): SettlementChain {
    const chain = new SettlementChain();
    chain.finality = FINALITY;
    for (const step of this.#steps) {
      chain.slot = step.slot;
      step.act(chain);
    }
    chain.slot = slot;
    return chain;
  }

  /** What nodes show: always the present fork. */
  readonly view: ChainView = new Proxy({} as ChainView, {
    get: (_target, name) => {
      const value: unknown = Reflect.get(this.current, name, this.current);
      return typeof value === "function" ? value.bind(this.current) : value;
    },
  });
}

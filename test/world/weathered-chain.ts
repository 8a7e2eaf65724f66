import { Effect } from "effect";
import { type Address, addressFromBytes } from "../../core/domain/address.ts";
import type { Escrow } from "../../core/domain/escrow/escrow.ts";
import type { LedgerAccount } from "../../core/domain/ledger/account.ts";
import type { HistoryPage } from "../../core/domain/ledger/history.ts";
import type { LedgerSignature } from "../../core/domain/ledger/signature.ts";
import { LedgerUnavailable } from "../../ports/ledger/ledger.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../arbitraries/test-ledger.ts";
import type { ChainTransaction } from "./chain.ts";
import { type Answer, ledgerPort, partsOf } from "./ledger-port.ts";
import { SettlementChain } from "./settlement-chain.ts";

/** How unreliable the nodes of a chain are. Each is a share of the answers, in [0, 1]. */
export type Weather = {
  /** Fails outright. */
  readonly unavailable: number;
  /** Answers from some slots ago, and admits it. */
  readonly stale: number;
  /** A page of history is unordered and partly repeated. */
  readonly shuffled: number;
  /** A page of history lacks some of the newest transactions, as at a node that indexes late. */
  readonly late: number;
  /** History has been pruned, whether or not the node admits it. */
  readonly pruned: number;
  /** A listed transaction is not shown. */
  readonly hidden: number;
  /** A bulk read breaks off and restarts. */
  readonly broken: number;
};

export const FAIR: Weather = {
  unavailable: 0,
  stale: 0,
  shuffled: 0,
  late: 0,
  pruned: 0,
  hidden: 0,
  broken: 0,
};
export const FOUL: Weather = {
  unavailable: 0.08,
  stale: 0.15,
  shuffled: 0.5,
  late: 0.4,
  pruned: 0.1,
  hidden: 0.05,
  broken: 0.3,
};

const PAGE = 4;
/** The longest that a node takes to list a transaction, slots: less than a sync's overlap. */
const LATENESS = 40n;
const CALLER = addressFromBytes(new Uint8Array(32).fill(77));

/** A chain, and the Ledger port over unreliable nodes of it. Depends on `random` alone. */
export class WeatheredChain extends SettlementChain {
  weather: Weather = FAIR;
  calls = 0;
  readonly #random: () => number;
  /** The slot of the answer under construction. */
  #answeredSlot = 0n;

  constructor(random: () => number) {
    super(TEST_GENESIS_HASH, TEST_DEPLOYMENT, (slot) => 1_700_000_000n + slot);
    this.#random = random;
  }

  /** The account at an address now. @throws Error for a missing one. */
  accountOf(address: Address): LedgerAccount {
    const account = this.account(address);
    if (account === null) throw new Error(`no account at ${address}`);
    return account;
  }

  /** A program of a stranger calls custody, and not every node keeps the instructions that programs call. */
  protected override transactionOf(escrow: Escrow): ChainTransaction {
    const own = super.transactionOf(escrow);
    const accounts = own.instructions.flatMap((each) => each.accounts);
    return {
      ...own,
      instructions: [{ program: CALLER, accounts, data: null }, ...own.instructions],
      hasCalls: this.#random() < 0.8,
    };
  }

  #is(share: number): boolean {
    return this.#random() < share;
  }

  #below(end: number): bigint {
    return BigInt(Math.floor(this.#random() * end));
  }

  /** A node's answer. It may be missing or old, besides the slots that the node is behind. */
  readonly #answer =
    (lag: () => bigint): Answer =>
    (value) =>
      Effect.suspend(() => {
        this.calls += 1;
        if (this.#is(this.weather.unavailable))
          return Effect.fail(new LedgerUnavailable({ retryable: true, cause: "weather" }));
        const behind = lag() + (this.#is(this.weather.stale) ? this.#below(300) : 0n);
        this.#answeredSlot = this.slot - (behind < this.slot ? behind : 0n);
        return Effect.succeed(value());
      });

  /** A page of the history up to the slot `newest`. */
  #page(address: Address, before: LedgerSignature | null, newest: bigint): HistoryPage {
    const { weather } = this;
    const horizon = this.#is(weather.late) ? newest - this.#below(Number(LATENESS)) : newest;
    const isPruned = this.#is(weather.pruned);
    const first = isPruned ? this.slot - this.#below(400) : 0n;
    const after = before === null ? horizon : (this.transaction(before)?.slot ?? -1n);
    const isKnown = first <= after && after <= horizon;
    const kept = isKnown ? this.newestOf(address, horizon, before, PAGE) : [];
    const entries = kept.filter(({ slot }) => slot >= first);
    const keptFrom = isPruned && this.#is(0.5) ? null : first;
    if (!this.#is(weather.shuffled)) return { entries, keptFrom };
    const mixed = [...entries, ...entries.slice(0, 2)].sort(() => this.#random() - 0.5);
    return { entries: mixed, keptFrom };
  }

  /** The Ledger port over nodes that are `lag` slots behind when they answer. */
  readonly portBehind = (lag: () => bigint) => {
    const parts = partsOf(this);
    return ledgerPort({
      ...parts,
      answer: this.#answer(lag),
      slot: () => this.#answeredSlot,
      tip: () => ({ slot: this.#answeredSlot, blockHeight: this.#answeredSlot }),
      chunks: (owned) => {
        const chunks = Array.from({ length: Math.max(1, Math.ceil(owned.length / 3)) }, (_, i) =>
          owned.slice(i * 3, i * 3 + 3),
        );
        return [...(this.#is(this.weather.broken) ? chunks.slice(0, 1) : []), ...chunks];
      },
      history: (address, before) => this.#page(address, before, this.slot - lag()),
      transaction: (signature) =>
        this.#is(this.weather.hidden) ? null : (this.transaction(signature) ?? null),
    });
  };

  readonly port = this.portBehind(() => 0n);
}

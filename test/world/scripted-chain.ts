import { Effect, Layer } from "effect";
import { type Address, addressFromBytes } from "../../core/domain/address.ts";
import { encodeBase64 } from "../../core/domain/encoding/base64.ts";
import type { LedgerAccount } from "../../core/domain/ledger/account.ts";
import type { LedgerTransaction } from "../../core/domain/ledger/history.ts";
import type { LedgerSignature } from "../../core/domain/ledger/signature.ts";
import type { LandedTransaction, TransactionError } from "../../core/domain/relay/relay-entry.ts";
import { CLOCK_SYSVAR } from "../../core/protocol/addresses/well-known-addresses.ts";
import {
  decodeWireTransaction,
  type WireTransaction,
} from "../../core/protocol/transaction/wire-transaction.ts";
import { Blockspace } from "../../ports/ledger/blockspace.ts";
import { Broadcaster } from "../../ports/ledger/broadcaster.ts";
import { Ledger, type LedgerFailure } from "../../ports/ledger/ledger.ts";
import { clockAccount } from "../doubles/accounts.ts";
import { walletOf } from "../simulation/world-escrow.ts";
import { broadcasterPort } from "./broadcaster-port.ts";
import { Chain, type ChainTransaction, type ShownAccount } from "./chain.ts";
import { type Answer, ledgerPort, type LedgerParts, partsOf } from "./ledger-port.ts";

type Fault = LedgerFailure | "hangs" | null;

const failing = <A>(fault: Fault, answer: () => Effect.Effect<A, LedgerFailure>) => {
  if (fault === null) return answer();
  return fault === "hangs" ? Effect.never : Effect.fail(fault);
};

/** A transaction as a block holds it. */
export const inBlock = (
  { signature, staticAccounts, signerCount, instructions }: WireTransaction,
  slot: bigint,
  error: TransactionError | null = null,
): ChainTransaction => ({
  signature,
  slot,
  time: 0n,
  failed: error !== null,
  error,
  logs: [],
  signers: new Set(staticAccounts.slice(0, signerCount)),
  accounts: staticAccounts,
  instructions: instructions.map(({ program, accounts, data }) => ({
    program,
    accounts: accounts.flatMap((place) => staticAccounts[place] ?? []),
    data,
  })),
  hasCalls: true,
});

/**
 * A chain that runs no program: a test says what becomes of transactions, and how the node fails. An account has stood
 * there from slot 0, unless the test names a later one.
 */
export class ScriptedChain extends Chain {
  /** How every call fails, or that it never ends; null: calls work. */
  fault: Fault = null;
  /** The same of simulations alone. */
  simulationFault: Fault = null;
  simulationError: TransactionError | null = null;
  simulationLogs: ReadonlyArray<string> = ["a log line"];
  isBlockhashValid: (blockhash: string) => boolean = () => true;
  /** What the node says of each transaction once something was sent, null for nothing. */
  fate: LandedTransaction | null = null;
  /** What it says of single transactions instead. */
  readonly landed = new Map<string, LandedTransaction>();
  /** Log lines of landed transactions. */
  logs: ReadonlyArray<string> = [];
  /** The error of a transaction as the node's history shows it; undefined: that of its status. */
  shownError: TransactionError | null | undefined;
  /** Runs when the node accepts a sending. */
  onSend: (sent: WireTransaction) => void = () => {};
  /** The slot from which the node has every status; null: it does not say. */
  historyStart: bigint | null = 0n;
  /** The slot from which it has every list; null: it does not say. */
  keptFrom: bigint | null = null;
  /** The number of calls. */
  reads = 0;
  simulations = 0;
  /** The signatures that were sent, in order. */
  readonly sent: Array<LedgerSignature> = [];
  /** The same as whole transactions in base64. */
  readonly submitted: Array<string> = [];
  readonly #elsewhere: (address: Address) => LedgerAccount | null;

  /**
   * `elsewhere` gives the accounts of addresses at which the test has put none. Without it, the clock is missing too.
   */
  constructor(
    genesisHash: string = walletOf("genesis"),
    elsewhere: (address: Address) => LedgerAccount | null = () => null,
  ) {
    super(genesisHash, () => 0n);
    this.#elsewhere = elsewhere;
    this.vanish(CLOCK_SYSVAR);
  }

  override put(account: ShownAccount, since = 0n): void {
    super.put(account, since);
  }

  override vanish(address: Address, since = 0n): void {
    super.vanish(address, since);
  }

  /** The account at an address is confirmed now: it has stood there since the present slot alone. */
  confirm(address: Address): void {
    const account = this.account(address);
    this.vanish(address);
    if (account !== null) this.put(account, this.slot);
  }

  override record(transaction: LedgerTransaction & Partial<ChainTransaction>): void {
    super.record({ time: 0n, error: null, logs: [], ...transaction });
  }

  /** Sets the Clock sysvar, Unix seconds. */
  setClock(seconds: bigint): void {
    this.put(clockAccount(seconds));
  }

  override accountAt(address: Address, slot: bigint): ShownAccount | null {
    return super.accountAt(address, slot) ?? this.#elsewhere(address);
  }

  /** Makes everything work again, and forgets what was sent. */
  reset(): void {
    Object.assign(this, { fault: null, fate: null, simulationError: null, logs: [] });
    Object.assign(this, { isBlockhashValid: () => true, onSend: () => {} });
    this.sent.length = 0;
    this.submitted.length = 0;
  }

  readonly #answer: Answer = (value) =>
    Effect.suspend(() => {
      this.reads += 1;
      return failing(this.fault, () => Effect.succeed(value()));
    });

  /** The ports of the ledger over the chain's node. `lies` stand in place of the node's true answers. */
  readonly portsWith = (lies: LedgerParts = {}) => {
    const answer = this.#answer;
    const { history, ...parts } = partsOf(this);
    const ledger = ledgerPort({
      ...parts,
      answer,
      history: (...asked) => ({ ...history(...asked), keptFrom: this.keptFrom }),
      ...lies,
    });
    const broadcaster = broadcasterPort({
      answer,
      isBlockhashValid: (blockhash) => this.isBlockhashValid(blockhash),
      simulate: () => ({
        slot: this.slot,
        error: this.simulationError,
        logs: this.simulationLogs,
      }),
      submit: (bytes) => {
        const decoded = decodeWireTransaction(bytes);
        if ("malformed" in decoded) return;
        const { signature } = decoded.value;
        this.sent.push(signature);
        this.submitted.push(encodeBase64(bytes));
        this.onSend(decoded.value);
      },
      landed: () => (signature) =>
        this.landed.get(signature) ?? (this.sent.length === 0 ? null : this.fate),
      historyStart: () => this.historyStart,
      logs: () => this.logs,
      error: () => this.shownError,
    });
    const simulate = (bytes: Uint8Array): ReturnType<typeof broadcaster.simulate> =>
      Effect.suspend(() => {
        this.simulations += 1;
        return failing(this.simulationFault, () => broadcaster.simulate(bytes));
      });
    const blockspace = Blockspace.of({
      latestBlockhash: answer(() => ({
        blockhash: addressFromBytes(new Uint8Array(32).fill(5)),
        lastValidBlockHeight: this.slot + 150n,
        slot: this.slot,
      })),
      recentPrices: () => answer(() => []),
    });
    return Layer.mergeAll(
      Layer.succeed(Ledger, ledger),
      Layer.succeed(Broadcaster, { ...broadcaster, simulate }),
      Layer.succeed(Blockspace, blockspace),
    );
  };
}

import { Effect } from "effect";
import { type Address, addressFromBytes } from "../../../../core/domain/address.ts";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import type { Hash32 } from "../../../../core/domain/hash32.ts";
import {
  type Instruction,
  readonly,
  writable,
} from "../../../../core/domain/ledger/instruction.ts";
import type { LedgerAccount } from "../../../../core/domain/ledger/account.ts";
import type { LedgerTransaction } from "../../../../core/domain/ledger/history.ts";
import {
  type LedgerSignature,
  ledgerSignatureFromBytes,
} from "../../../../core/domain/ledger/signature.ts";
import type { Merchant } from "../../../../core/domain/merchant/merchant.ts";
import type { EventKind } from "../../../../core/domain/index/settlement-event.ts";
import { archiveEscrowInstruction } from "../../../../core/protocol/instructions/custody-instructions.ts";
import { registerMerchantInstruction } from "../../../../core/protocol/instructions/attestor-instructions.ts";
import { encodeEscrowAccount } from "../../../../core/protocol/accounts/escrow-account.ts";
import { encodeMerchantAccount } from "../../../../core/protocol/accounts/merchant-account.ts";
import {
  CLOCK_SYSVAR,
  SYSTEM_PROGRAM,
} from "../../../../core/protocol/addresses/well-known-addresses.ts";
import { LedgerUnavailable } from "../../../../ports/ledger/ledger.ts";
import type { EscrowLife } from "../../../arbitraries/index-history.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../../../arbitraries/test-ledger.ts";
import { CustodyLog } from "../../../simulation/custody-log.ts";
import { accountOf, clockAccount } from "../../../doubles/accounts.ts";
import { tombstoneOf } from "../../../doubles/tombstone.ts";
import { type Answer, ledgerDouble } from "../../../doubles/ledger-double.ts";
import { creationOf, settlementOf } from "./escrow-instructions.ts";

/** How unreliable the nodes of a simulated ledger are. Each is a share of the answers, in [0, 1]. */
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

/** An account's state from a slot on; null for a deleted one. */
type Change = { readonly slot: bigint; readonly account: LedgerAccount; readonly gone?: true };

const PAGE = 4;
/** The longest that a node takes to list a transaction, slots: less than a sync's overlap. */
const LATENESS = 40n;
const WALLET = addressFromBytes(new Uint8Array(32).fill(77));

/** A ledger that a test advances, and the Ledger port over unreliable nodes. Depends on `random` alone. */
export class SimulatedLedger {
  slot = 1000n;
  weather: Weather = FAIR;
  calls = 0;
  /** The transaction of each event, by its id. */
  readonly references = new Map<string, { signature: LedgerSignature; slot: bigint }>();
  /** The escrows in their present state, with the numbers that the ledger gave their events. */
  readonly escrows = new Map<Address, Escrow>();
  readonly custodyLog = new CustodyLog(TEST_DEPLOYMENT);
  /** The head after each event, and before the first. */
  readonly #heads: Array<Hash32> = [];
  readonly #random: () => number;
  readonly #changes: Array<Change> = [];
  readonly #transactions: Array<LedgerTransaction> = [];
  /** The slot of the answer under construction. */
  #answeredSlot = 0n;

  constructor(random: () => number) {
    this.#random = random;
    this.#writeConfig();
  }

  /** Creates the escrow in this slot. */
  create(life: EscrowLife): void {
    const pending = this.custodyLog.create(life[0]);
    const { signature } = this.#land(
      creationOf(pending, WALLET, TEST_DEPLOYMENT),
      pending.agentOwner,
    );
    this.#put(pending);
    this.#refer(pending.address, "escrow_created", signature);
  }

  /** Settles the escrow in this slot. */
  settle(settled: Escrow): void {
    const { createdSeq } = this.at(settled.address);
    const escrow = this.custodyLog.settle({ ...settled, createdSeq });
    const { kind, ix } = settlementOf(escrow, TEST_DEPLOYMENT);
    const { signature } = this.#land(ix, WALLET);
    this.#put(escrow);
    this.#refer(escrow.address, kind, signature);
  }

  /** Archives the settled escrow in this slot. */
  archive(settled: Pick<Escrow, "address">): void {
    const { custodyProgram } = TEST_DEPLOYMENT;
    const escrow = this.at(settled.address);
    const { address, rentPayer } = escrow;
    const lastBytes = encodeEscrowAccount(escrow);
    this.#land(
      archiveEscrowInstruction(TEST_DEPLOYMENT, { escrow: address, rentPayer, lastBytes }),
      WALLET,
    );
    this.#write(address, custodyProgram, tombstoneOf(escrow));
  }

  /** The escrow at an address, archived or not. @throws Error for an unknown one. */
  at(address: Address): Escrow {
    const escrow = this.escrows.get(address);
    if (escrow === undefined) throw new Error(`no escrow at ${address}`);
    return escrow;
  }

  /** The account at an address now. @throws Error for a missing one. */
  accountOf(address: Address): LedgerAccount {
    const account = this.#stateAt(this.slot).get(address);
    if (account === undefined) throw new Error(`no account at ${address}`);
    return account;
  }

  register(merchant: Merchant): void {
    this.#land(
      registerMerchantInstruction(TEST_DEPLOYMENT, {
        payer: WALLET,
        merchant: merchant.wallet,
        attestor: merchant.attestor,
        name: "m",
      }),
      merchant.wallet,
    );
    this.#write(merchant.address, TEST_DEPLOYMENT.attestorProgram, encodeMerchantAccount(merchant));
  }

  /** A transaction that names both programs and changes nothing, or fails. */
  spam(failed: boolean): void {
    this.#land(
      {
        programAddress: SYSTEM_PROGRAM,
        accounts: [
          readonly(TEST_DEPLOYMENT.custodyProgram),
          readonly(TEST_DEPLOYMENT.attestorProgram),
          readonly(this.custodyLog.address),
        ],
        data: new Uint8Array(),
      },
      WALLET,
      failed,
    );
  }

  /** Puts bytes at an address owned by custody, in a transaction that names it. */
  plant(address: Address, data: Uint8Array): void {
    this.#land(
      {
        programAddress: TEST_DEPLOYMENT.custodyProgram,
        accounts: [writable(address)],
        data: new Uint8Array(8),
      },
      WALLET,
    );
    this.#write(address, TEST_DEPLOYMENT.custodyProgram, data);
  }

  /** The chain over the ledger's first `count` events, undefined above the last one. */
  headAt(count: bigint): Hash32 | undefined {
    return this.#heads[Number(count)];
  }

  /** The signature of the newest transaction. @throws Error without one. */
  newest(): LedgerSignature {
    const newest = this.#transactions.at(-1);
    if (newest === undefined) throw new Error("no transaction");
    return newest.signature;
  }

  /** Deletes the account at an address without any transaction. */
  vanish(address: Address): void {
    this.#changes.push({
      slot: this.slot,
      account: accountOf(address, SYSTEM_PROGRAM, new Uint8Array()),
      gone: true,
    });
  }

  #put(escrow: Escrow): void {
    this.escrows.set(escrow.address, escrow);
    this.#write(escrow.address, TEST_DEPLOYMENT.custodyProgram, encodeEscrowAccount(escrow));
    this.#writeConfig();
  }

  #writeConfig(): void {
    this.#heads[Number(this.custodyLog.count)] = this.custodyLog.head;
    const { address, configData } = this.custodyLog;
    this.#write(address, TEST_DEPLOYMENT.custodyProgram, configData);
  }

  #write(address: Address, owner: Address, data: Uint8Array): void {
    this.#changes.push({ slot: this.slot, account: accountOf(address, owner, data) });
  }

  #refer(escrow: Address, kind: EventKind, signature: LedgerSignature): void {
    this.references.set(`${escrow}:${kind}`, { signature, slot: this.slot });
  }

  #land(ix: Instruction, signer: Address, failed = false): LedgerTransaction {
    const bytes = new Uint8Array(64);
    new DataView(bytes.buffer).setUint32(0, this.#transactions.length + 1);
    const accounts = ix.accounts.map(({ address }) => address);
    const own = { program: ix.programAddress, accounts, data: ix.data };
    // Not every node keeps the instructions that programs call.
    const hasCalls = this.#random() < 0.8;
    const transaction: LedgerTransaction = {
      signature: ledgerSignatureFromBytes(bytes),
      slot: this.slot,
      failed,
      signers: new Set([signer]),
      accounts: [...new Set([signer, ix.programAddress, ...accounts])],
      instructions: [{ program: WALLET, accounts, data: null }, own],
      hasCalls,
    };
    this.#transactions.push(transaction);
    return transaction;
  }

  #stateAt(slot: bigint): ReadonlyMap<Address, LedgerAccount> {
    const state = new Map<Address, LedgerAccount>();
    for (const change of this.#changes) {
      if (change.slot > slot) break;
      if (change.gone === true) state.delete(change.account.address);
      else state.set(change.account.address, change.account);
    }
    return state.set(CLOCK_SYSVAR, clockAccount(1_700_000_000n + slot));
  }

  #is(share: number): boolean {
    return this.#random() < share;
  }

  /** A node's answer. It may be missing or old, besides the slots that the node is behind. */
  readonly #answer =
    (lag: () => bigint): Answer =>
    (value) =>
      Effect.suspend(() => {
        this.calls += 1;
        if (this.#is(this.weather.unavailable))
          return Effect.fail(new LedgerUnavailable({ retryable: true, cause: "weather" }));
        const stale = this.#is(this.weather.stale) ? BigInt(Math.floor(this.#random() * 300)) : 0n;
        const behind = lag() + stale;
        this.#answeredSlot = this.slot - (behind < this.slot ? behind : 0n);
        return Effect.succeed(value());
      });

  /** A page of the history up to the slot `newest`. */
  #page(address: Address, before: LedgerSignature | null, newest: bigint) {
    const { weather } = this;
    const horizon = this.#is(weather.late)
      ? newest - BigInt(Math.floor(this.#random() * Number(LATENESS)))
      : newest;
    const pruned = this.#is(weather.pruned);
    const first = pruned ? this.slot - BigInt(Math.floor(this.#random() * 400)) : 0n;
    const all = this.#transactions
      .filter((one) => one.accounts.includes(address) && one.slot <= horizon && one.slot >= first)
      .toReversed();
    const from = before === null ? 0 : all.findIndex(({ signature }) => signature === before) + 1;
    const entries = before !== null && from === 0 ? [] : all.slice(from, from + PAGE);
    const keptFrom = pruned && this.#is(0.5) ? null : first;
    if (!this.#is(weather.shuffled)) return { entries, keptFrom };
    const mixed = [...entries, ...entries.slice(0, 2)].sort(() => this.#random() - 0.5);
    return { entries: mixed, keptFrom };
  }

  /** The Ledger port over nodes that are `lag` slots behind when they answer. */
  readonly portBehind = (lag: () => bigint) =>
    ledgerDouble({
      answer: this.#answer(lag),
      genesisHash: TEST_GENESIS_HASH,
      slot: () => this.#answeredSlot,
      tip: () => ({ slot: this.#answeredSlot, blockHeight: this.#answeredSlot }),
      accountAt: (slot) => {
        const state = this.#stateAt(slot);
        return (address) => state.get(address) ?? null;
      },
      accounts: (slot) => this.#stateAt(slot).values(),
      chunks: (owned) => {
        const chunks = Array.from({ length: Math.max(1, Math.ceil(owned.length / 3)) }, (_, i) =>
          owned.slice(i * 3, i * 3 + 3),
        );
        return [...(this.#is(this.weather.broken) ? chunks.slice(0, 1) : []), ...chunks];
      },
      history: (address, before) => this.#page(address, before, this.slot - lag()),
      transaction: (signature) =>
        this.#is(this.weather.hidden)
          ? null
          : (this.#transactions.find((one) => one.signature === signature) ?? null),
    });

  readonly port = this.portBehind(() => 0n);
}

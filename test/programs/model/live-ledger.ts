import { FailedTransactionMetadata } from "litesvm/dist/internal.js";
import { type Address, addressToBytes } from "../../../core/domain/address.ts";
import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import { fieldsOf } from "../../../core/protocol/accounts/byte-fields.ts";
import {
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../core/protocol/addresses/well-known-addresses.ts";
import { RATE, type Token, tokenBytes } from "./account.ts";
import { exploredWorld } from "./explored.ts";
import { type Binaries, FEES, Machine, zeros } from "./machine.ts";
import { unsignedTransaction } from "./wire.ts";

/** The most bytes of a transaction (Agave `PACKET_DATA_SIZE`). */
const MOST_BYTES = 1232;

/** A ledger on which parties land prepared transactions and change accounts of their own. */
export class LiveLedger {
  readonly #machine: Machine;
  /** The longest transaction of each form, in bytes. */
  readonly longest = new Map<string, number>();
  #failure: FailedTransactionMetadata | undefined;
  #rate = RATE;
  #bytes = 0;

  constructor(binaries: Binaries) {
    this.#machine = new Machine(binaries);
    this.#machine.load(exploredWorld());
  }

  /** Why the last transaction was refused. */
  get failure(): string {
    const cause = /err: (.*?), meta/.exec(this.#failure?.toString() ?? "")?.[1];
    return cause ?? `too long, ${this.#bytes} bytes`;
  }

  get time(): bigint {
    return this.#machine.ledger.time;
  }

  set time(seconds: bigint) {
    this.#machine.ledger.time = seconds;
  }

  get rate(): bigint {
    return this.#rate;
  }

  set rate(rate: bigint) {
    this.#rate = rate;
    this.#machine.rate = rate;
  }

  /** Lands a transaction; false when the ledger refuses it. */
  land(instructions: ReadonlyArray<Instruction>, form = "other"): boolean {
    const bytes = unsignedTransaction(FEES, instructions);
    this.#bytes = bytes.length;
    this.longest.set(form, Math.max(bytes.length, this.longest.get(form) ?? 0));
    this.#failure = undefined;
    if (bytes.length > MOST_BYTES) return false;
    const result = this.#machine.ledger.svm.sendVersionedTransaction(bytes);
    if (!(result instanceof FailedTransactionMetadata)) return true;
    this.#failure = result;
    return false;
  }

  /** Whether the ledger would take a transaction now. */
  takes(instructions: ReadonlyArray<Instruction>): boolean {
    const bytes = unsignedTransaction(FEES, instructions);
    this.#bytes = bytes.length;
    this.#failure = undefined;
    if (bytes.length > MOST_BYTES) return false;
    const result = this.#machine.ledger.svm.simulateVersionedTransaction(bytes);
    this.#failure = result instanceof FailedTransactionMetadata ? result : undefined;
    return this.#failure === undefined;
  }

  account(address: Address): LedgerAccount {
    return this.#machine.ledger.account(address);
  }

  /** Changes an account as its holder, or a stranger, could by transactions of its own. */
  set(account: LedgerAccount): void {
    this.#machine.ledger.set(account);
  }

  /** An account of the System program. */
  setWallet(address: Address, lamports: bigint, size = 0): void {
    const data = zeros(size);
    this.set({ address, owner: SYSTEM_PROGRAM, lamports, executable: false, data });
  }

  setToken(address: Address, lamports: bigint, token: Token): void {
    const data = tokenBytes(token);
    this.set({ address, owner: TOKEN_PROGRAM, lamports, executable: false, data });
  }

  /** Units in a token account, 0n without one. */
  units(address: Address): bigint {
    const account = this.account(address);
    return account.owner === TOKEN_PROGRAM && account.data.length === 165
      ? fieldsOf(account.data).u64(64)
      : 0n;
  }

  /** Whether custody can pay a holder here. */
  isPayable(address: Address, holder: Address, mint: Address): boolean {
    const { owner, data } = this.account(address);
    if (owner !== TOKEN_PROGRAM || data.length !== 165 || data[108] !== 1) return false;
    return (
      fieldsOf(data).isAt(0, addressToBytes(mint)) &&
      fieldsOf(data).isAt(32, addressToBytes(holder))
    );
  }

  /** Whether somebody beside the holder has a right on a token account. */
  isShared(address: Address): boolean {
    const fields = fieldsOf(this.account(address).data);
    return fields.u32(72) !== 0 || fields.u32(129) !== 0;
  }
}

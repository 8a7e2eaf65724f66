import { type Address, addressFromBytes, addressToBytes } from "../../core/domain/address.ts";
import type { Escrow } from "../../core/domain/escrow/escrow.ts";
import type { Hash32 } from "../../core/domain/hash32.ts";
import {
  type LedgerSignature,
  ledgerSignatureFromBytes,
} from "../../core/domain/ledger/signature.ts";
import {
  decodeEscrowAccount,
  encodeEscrowAccount,
  ESCROW_ACCOUNT_LENGTH,
} from "../../core/protocol/accounts/escrow-account.ts";
import { encodeMerchantAccount } from "../../core/protocol/accounts/merchant-account.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { CLOCK_SYSVAR } from "../../core/protocol/addresses/well-known-addresses.ts";
import { accountOf, clockAccount } from "../doubles/accounts.ts";
import { CustodyLog } from "./custody-log.ts";
import {
  pendingOf,
  refundedOf,
  walletOf,
  worldEscrow,
  worldMerchants,
  WORLD_TIME,
} from "./world-escrow.ts";
import { transactionOf, type WorldTransaction } from "./world-transaction.ts";

/** An account of the ledger and the slot of its last write. */
export type WrittenAccount = {
  readonly address: Address;
  readonly owner: Address;
  readonly data: Uint8Array;
  readonly slot: number;
};

/** A prime larger than any size. Its multiples visit all accounts in a scattered order. */
const STEP = 2_654_435_761;
const EVENTS_PER_SLOT = 10;

/**
 * A ledger with many escrows in little memory, some 470 bytes each, always the same ones. The transaction of each event
 * is made when it is asked for. Escrows can be settled later.
 */
export class PagingLedger {
  slot = 1000;
  readonly genesisHash: string = walletOf("genesis");
  readonly size: number;
  readonly custodyLog = new CustodyLog(LOCAL_DEPLOYMENT);
  readonly #addresses: Uint8Array;
  readonly #data: Uint8Array;
  readonly #writtenAt: Uint32Array;
  /** By event, from 0: the escrow's number and the slot. */
  readonly #escrowOf: Array<number> = [];
  readonly #slotOf: Array<number> = [];
  readonly #numbers = new Map<string, number>();
  readonly #merchants: ReadonlyArray<WrittenAccount>;

  constructor(escrows: number) {
    this.size = escrows;
    this.#addresses = new Uint8Array(32 * escrows);
    this.#data = new Uint8Array(ESCROW_ACCOUNT_LENGTH * escrows);
    this.#writtenAt = new Uint32Array(escrows);
    for (let number = 0; number < escrows; number++) {
      const row = worldEscrow(number);
      this.#addresses.set(addressToBytes(row.address), 32 * number);
      this.#numbers.set(row.address, number);
      const pending = this.custodyLog.create(pendingOf(row));
      this.#happened(number);
      this.#put(number, pending);
      if (row.state === "Pending") continue;
      this.#put(number, this.custodyLog.settle({ ...row, createdSeq: pending.createdSeq }));
      this.#happened(number);
    }
    this.#merchants = worldMerchants().map((merchant) => ({
      address: merchant.address,
      owner: LOCAL_DEPLOYMENT.attestorProgram,
      data: encodeMerchantAccount(merchant),
      slot: 1000,
    }));
    this.slot += 100;
  }

  get count(): bigint {
    return this.custodyLog.count;
  }

  get head(): Hash32 {
    return this.custodyLog.head;
  }

  /** Refunds up to `most` Pending escrows, in a slot of its own, and returns how many there were. */
  refund(most: number): number {
    this.slot += 1;
    let refunded = 0;
    for (let number = 0; number < this.size && refunded < most; number++) {
      const escrow = this.escrow(number);
      if (escrow.state !== "Pending") continue;
      this.#put(number, this.custodyLog.settle(refundedOf(escrow)));
      this.#happened(number);
      refunded += 1;
    }
    this.slot += 1;
    return refunded;
  }

  /** The escrow with a number from 0. */
  escrow(number: number): Escrow {
    const { data } = this.#account(number);
    const owner = LOCAL_DEPLOYMENT.custodyProgram;
    const account = accountOf(this.#account(number).address, owner, data);
    const decoded = decodeEscrowAccount(account, LOCAL_DEPLOYMENT);
    if ("fault" in decoded) throw new Error(decoded.fault);
    return decoded.value;
  }

  /** The accounts of a program that were written since a slot, in the order in which a node lists them, from a place on, with their places. */
  *accounts(
    program: Address,
    from: number,
    since: number,
  ): Generator<readonly [number, WrittenAccount]> {
    if (program === LOCAL_DEPLOYMENT.attestorProgram) {
      for (const [at, one] of this.#merchants.entries())
        if (at >= from && one.slot >= since) yield [at, one];
      return;
    }
    if (program !== LOCAL_DEPLOYMENT.custodyProgram) return;
    let number = Number((BigInt(from) * BigInt(STEP)) % BigInt(this.size));
    for (let at = from; at < this.size; at++, number = (number + STEP) % this.size)
      if ((this.#writtenAt[number] ?? 0) >= since) yield [at, this.#account(number)];
  }

  /** An account by its address, undefined for a missing one. */
  account(address: Address): WrittenAccount | undefined {
    const number = this.#numbers.get(address);
    if (number !== undefined) return this.#account(number);
    const { slot } = this;
    if (address === CLOCK_SYSVAR) return { ...clockAccount(WORLD_TIME), slot };
    if (address === this.custodyLog.address) {
      const data = this.custodyLog.configData;
      return { address, owner: LOCAL_DEPLOYMENT.custodyProgram, data, slot };
    }
    return this.#merchants.find((one) => one.address === address);
  }

  /** The transaction of the event with a number from 1, undefined for none. */
  transaction(event: number): WorldTransaction | undefined {
    const number = this.#escrowOf[event - 1];
    if (number === undefined) return undefined;
    const now = this.escrow(number);
    const state = now.createdSeq === BigInt(event) ? pendingOf(now) : now;
    const made = transactionOf(state, this.#slotOf[event - 1] ?? 0);
    return { ...made, signature: signatureOfEvent(event) };
  }

  /** The events of an escrow, oldest first; all events for the custody config; none for another address. */
  eventsOf(address: Address): { readonly count: number; readonly at: (index: number) => number } {
    if (address === this.custodyLog.address)
      return { count: Number(this.count), at: (index) => index + 1 };
    const number = this.#numbers.get(address);
    if (number === undefined) return { count: 0, at: () => 0 };
    const { createdSeq, settledSeq } = this.escrow(number);
    const own = [createdSeq, ...(settledSeq === null ? [] : [settledSeq])].map(Number);
    return { count: own.length, at: (index) => own[index] ?? 0 };
  }

  #account(number: number): WrittenAccount {
    const from = ESCROW_ACCOUNT_LENGTH * number;
    const address = this.#addresses.subarray(32 * number, 32 * number + 32);
    return {
      // Made when it is used: most accounts are only filtered.
      get address() {
        return addressFromBytes(address);
      },
      owner: LOCAL_DEPLOYMENT.custodyProgram,
      data: this.#data.subarray(from, from + ESCROW_ACCOUNT_LENGTH),
      slot: this.#writtenAt[number] ?? 0,
    };
  }

  #put(number: number, escrow: Escrow): void {
    this.#data.set(encodeEscrowAccount(escrow), ESCROW_ACCOUNT_LENGTH * number);
    this.#writtenAt[number] = this.slot;
  }

  #happened(number: number): void {
    this.#escrowOf.push(number);
    this.#slotOf.push(this.slot);
    if (this.#escrowOf.length % EVENTS_PER_SLOT === 0) this.slot += 1;
  }
}

/** The signature of the transaction that caused an event: its number, and zeros. */
export const signatureOfEvent = (event: number): LedgerSignature => {
  const bytes = new Uint8Array(64);
  new DataView(bytes.buffer).setUint32(0, event, true);
  bytes[63] = 1;
  return ledgerSignatureFromBytes(bytes);
};

/** The event that `signatureOfEvent` made a signature of. */
export const eventOfSignature = (bytes: Uint8Array): number =>
  new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);

import { type Address, addressFromBytes, addressToBytes } from "../../core/domain/address.ts";
import type { Escrow } from "../../core/domain/escrow/escrow.ts";
import { decodeBase58 } from "../../core/domain/encoding/base58.ts";
import type { LedgerAccount } from "../../core/domain/ledger/account.ts";
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
import type { ChainTransaction, ChainView } from "../world/chain.ts";
import { transactionOf } from "../world/settlement-transactions.ts";

/** A prime larger than any size. Its multiples visit all accounts in a scattered order. */
const STEP = 2_654_435_761;
const EVENTS_PER_SLOT = 10;
const FIRST_SLOT = 1000n;

/**
 * A ledger with many escrows in little memory, some 470 bytes each, always the same ones. The transaction of each event
 * is made when it is asked for. Escrows can be settled later.
 */
export class PagingLedger implements ChainView {
  slot = FIRST_SLOT;
  readonly finality = 0n;
  readonly firstSlot = 0n;
  readonly genesisHash: string = walletOf("genesis");
  readonly size: number;
  readonly custodyLog = new CustodyLog(LOCAL_DEPLOYMENT, this.genesisHash);
  readonly #addresses: Uint8Array;
  readonly #data: Uint8Array;
  readonly #writtenAt: Uint32Array;
  /** By event, from 0: the escrow's number and the slot. */
  readonly #escrowOf: Array<number> = [];
  readonly #slotOf: Array<number> = [];
  readonly #numbers = new Map<string, number>();
  readonly #merchants: ReadonlyArray<LedgerAccount>;

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
    this.#merchants = worldMerchants().map((merchant) =>
      accountOf(
        merchant.address,
        LOCAL_DEPLOYMENT.attestorProgram,
        encodeMerchantAccount(merchant),
      ),
    );
    this.slot += 100n;
  }

  get count(): bigint {
    return this.custodyLog.count;
  }

  get root(): Hash32 {
    return this.custodyLog.root;
  }

  /** Refunds up to `most` Pending escrows, in a slot of its own, and returns how many there were. */
  refund(most: number): number {
    this.slot += 1n;
    let refunded = 0;
    for (let number = 0; number < this.size && refunded < most; number++) {
      const escrow = this.escrow(number);
      if (escrow.state !== "Pending") continue;
      this.#put(number, this.custodyLog.settle(refundedOf(escrow)));
      this.#happened(number);
      refunded += 1;
    }
    this.slot += 1n;
    return refunded;
  }

  /** The escrow with a number from 0. */
  escrow(number: number): Escrow {
    const decoded = decodeEscrowAccount(this.#account(number), LOCAL_DEPLOYMENT);
    if ("fault" in decoded) throw new Error(decoded.fault);
    return decoded.value;
  }

  *accountsOf(
    program: Address,
    _slot: bigint,
    from = 0,
    since = 0n,
  ): Generator<readonly [number, LedgerAccount]> {
    if (program === LOCAL_DEPLOYMENT.attestorProgram && since <= FIRST_SLOT)
      yield* [...this.#merchants.entries()].slice(from);
    if (program !== LOCAL_DEPLOYMENT.custodyProgram) return;
    let number = Number((BigInt(from) * BigInt(STEP)) % BigInt(this.size));
    const sinceSlot = Number(since);
    for (let at = from; at < this.size; at++, number = (number + STEP) % this.size)
      if ((this.#writtenAt[number] ?? 0) >= sinceSlot) yield [at, this.#account(number)];
  }

  accountAt(address: Address): LedgerAccount | null {
    const number = this.#numbers.get(address);
    if (number !== undefined) return this.#account(number);
    if (address === CLOCK_SYSVAR) return clockAccount(WORLD_TIME);
    if (address === this.custodyLog.address) return this.custodyLog.config;
    return this.#merchants.find((one) => one.address === address) ?? null;
  }

  transaction(signature: string): ChainTransaction | undefined {
    const bytes = decodeBase58(signature, 64);
    return bytes && this.#transactionOf(eventOfSignature(bytes));
  }

  newestOf(
    address: Address,
    _slot: bigint,
    before: string | null,
    limit: number,
  ): ReadonlyArray<ChainTransaction> {
    const events = this.#eventsOf(address);
    const known = before === null ? undefined : decodeBase58(before, 64);
    const below = known === undefined ? Number.POSITIVE_INFINITY : eventOfSignature(known);
    const isConfig = address === this.custodyLog.address;
    const newest = isConfig ? Math.min(events.count, below - 1) : events.count;
    const page: Array<ChainTransaction> = [];
    for (let i = newest - 1; i >= 0 && page.length < limit; i--) {
      const shown = events.at(i) < below ? this.#transactionOf(events.at(i)) : undefined;
      if (shown !== undefined) page.push(shown);
    }
    return page;
  }

  oldestOf(
    address: Address,
    _slot: bigint,
    from: number,
    limit: number,
  ): ReadonlyArray<ChainTransaction> {
    const events = this.#eventsOf(address);
    const length = Math.max(0, Math.min(events.count - from, limit));
    return Array.from({ length }, (_, i) => this.#transactionOf(events.at(from + i))).filter(
      (shown) => shown !== undefined,
    );
  }

  /** The transaction of the event with a number from 1, undefined for none. */
  #transactionOf(event: number): ChainTransaction | undefined {
    const number = this.#escrowOf[event - 1];
    if (number === undefined) return undefined;
    const now = this.escrow(number);
    const state = now.createdSeq === BigInt(event) ? pendingOf(now) : now;
    const made = transactionOf(LOCAL_DEPLOYMENT, state, BigInt(this.#slotOf[event - 1] ?? 0));
    return { ...made, signature: signatureOfEvent(event) };
  }

  /** The events of an escrow, oldest first; all events for the custody config; none for another address. */
  #eventsOf(address: Address): { readonly count: number; readonly at: (index: number) => number } {
    if (address === this.custodyLog.address)
      return { count: Number(this.count), at: (index) => index + 1 };
    const number = this.#numbers.get(address);
    if (number === undefined) return { count: 0, at: () => 0 };
    const { createdSeq, settledSeq } = this.escrow(number);
    const own = [createdSeq, ...(settledSeq === null ? [] : [settledSeq])].map(Number);
    return { count: own.length, at: (index) => own[index] ?? 0 };
  }

  #account(number: number): LedgerAccount {
    const from = ESCROW_ACCOUNT_LENGTH * number;
    const address = this.#addresses.subarray(32 * number, 32 * number + 32);
    return {
      // Made when it is used: most accounts are only filtered.
      get address() {
        return addressFromBytes(address);
      },
      owner: LOCAL_DEPLOYMENT.custodyProgram,
      lamports: 1n,
      executable: false,
      data: this.#data.subarray(from, from + ESCROW_ACCOUNT_LENGTH),
    };
  }

  #put(number: number, escrow: Escrow): void {
    this.#data.set(encodeEscrowAccount(escrow), ESCROW_ACCOUNT_LENGTH * number);
    this.#writtenAt[number] = Number(this.slot);
  }

  #happened(number: number): void {
    this.#escrowOf.push(number);
    this.#slotOf.push(Number(this.slot));
    if (this.#escrowOf.length % EVENTS_PER_SLOT === 0) this.slot += 1n;
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
const eventOfSignature = (bytes: Uint8Array): number =>
  new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);

import type { Address } from "../../core/domain/address.ts";
import type { Escrow } from "../../core/domain/escrow/escrow.ts";
import type { Hash32 } from "../../core/domain/hash32.ts";
import type { LoggedEvents } from "../../core/domain/index/sync-report.ts";
import { rootOf } from "../../core/log/tree/frontier.ts";
import type { EventKind } from "../../core/domain/index/settlement-event.ts";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import type { LedgerSignature } from "../../core/domain/ledger/signature.ts";
import type { Merchant } from "../../core/domain/merchant/merchant.ts";
import { encodeEscrowAccount } from "../../core/protocol/accounts/escrow-account.ts";
import { encodeMerchantAccount } from "../../core/protocol/accounts/merchant-account.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { SYSTEM_PROGRAM } from "../../core/protocol/addresses/well-known-addresses.ts";
import type { EscrowLife } from "../arbitraries/index-history.ts";
import { accountOf } from "../doubles/accounts.ts";
import { registryOf } from "../doubles/registry.ts";
import { tombstoneOf } from "../doubles/tombstone.ts";
import { CustodyLog } from "../simulation/custody-log.ts";
import { pendingOf, walletOf, WORLD_TIME } from "../simulation/world-escrow.ts";
import { Chain, type ChainTransaction } from "./chain.ts";
import {
  archivingOf,
  called,
  merchantTransaction,
  transactionOf,
} from "./settlement-transactions.ts";

const KINDS: Readonly<Record<Escrow["state"], EventKind>> = {
  Pending: "escrow_created",
  Fulfilled: "escrow_released",
  PartiallyFulfilled: "escrow_partially_released",
  Refunded: "escrow_refunded",
};

/** A chain on which the two programs of a deployment run: escrows, their events, and merchants. */
export class SettlementChain extends Chain {
  readonly deployment: Deployment;
  readonly custodyLog: CustodyLog;
  /** The escrows in their present state, with the numbers that the ledger gave their events. */
  readonly escrows = new Map<Address, Escrow>();
  /** The merchants in their present state. */
  readonly merchants = new Map<Address, Merchant>();
  /** The transaction of each event, by its id. */
  readonly references = new Map<string, { signature: LedgerSignature; slot: bigint }>();
  /** The log after each event, and before the first. */
  readonly #logged: Array<LoggedEvents> = [];

  constructor(
    genesisHash: string = walletOf("genesis"),
    deployment: Deployment = LOCAL_DEPLOYMENT,
    timeAt: (slot: bigint) => bigint = () => WORLD_TIME,
  ) {
    super(genesisHash, timeAt);
    this.deployment = deployment;
    this.custodyLog = new CustodyLog(deployment, genesisHash);
    this.#putConfig();
    this.put(registryOf(deployment));
  }

  /** Creates the escrow in this slot. */
  create([pending]: EscrowLife): void {
    this.#happened(this.custodyLog.create(pending));
  }

  /** Settles the escrow in this slot. */
  settle(settled: Escrow): void {
    const { createdSeq } = this.at(settled.address);
    this.#happened(this.custodyLog.settle({ ...settled, createdSeq }));
  }

  /** Captures from a Pending session, or closes it, in this slot: a transaction that names it, and no event. */
  change(session: Escrow): void {
    const { custodyProgram } = this.deployment;
    const data = encodeEscrowAccount(session);
    this.put(accountOf(session.address, custodyProgram, data));
    this.#land(custodyProgram, [session.address], new Uint8Array(), false);
  }

  /** Brings an escrow into a state in this slot, through its creation if it has none. */
  putEscrow(row: Escrow): void {
    if (!this.escrows.has(row.address)) this.create([pendingOf(row)]);
    if (row.state !== "Pending") this.settle(row);
  }

  /** Archives the settled escrow in this slot. */
  archive(settled: Pick<Escrow, "address">): void {
    const escrow = this.at(settled.address);
    this.record(archivingOf(this.deployment, escrow, this.slot, this.transactions.length));
    this.put(accountOf(escrow.address, this.deployment.custodyProgram, tombstoneOf(escrow)));
  }

  /** The escrow at an address, archived or not. @throws Error for an unknown one. */
  at(address: Address): Escrow {
    const escrow = this.escrows.get(address);
    if (escrow === undefined) throw new Error(`no escrow at ${address}`);
    return escrow;
  }

  /** Sets a merchant's account, without a transaction. */
  putMerchant(merchant: Merchant): void {
    this.merchants.set(merchant.address, merchant);
    const data = encodeMerchantAccount(merchant);
    this.put(accountOf(merchant.address, this.deployment.attestorProgram, data));
  }

  /** Sets a merchant's account in a transaction that names it. */
  changeMerchant(merchant: Merchant): void {
    this.putMerchant(merchant);
    const { deployment, slot, transactions } = this;
    this.record(merchantTransaction(deployment, merchant, slot, transactions.length));
  }

  /** A transaction that names both programs and changes nothing, or fails. */
  spam(failed: boolean): void {
    const { custodyProgram, attestorProgram } = this.deployment;
    const accounts = [custodyProgram, attestorProgram, this.custodyLog.address];
    this.#land(SYSTEM_PROGRAM, accounts, new Uint8Array(), failed);
  }

  /** Puts bytes at an address owned by custody, in a transaction that names it. */
  plant(address: Address, data: Uint8Array): void {
    const { custodyProgram } = this.deployment;
    this.#land(custodyProgram, [address], new Uint8Array(8), false);
    this.put(accountOf(address, custodyProgram, data));
  }

  #land(
    program: Address,
    accounts: ReadonlyArray<Address>,
    data: Uint8Array,
    failed: boolean,
  ): void {
    const label = `${program} ${this.transactions.length}`;
    this.record(called({ label, program, accounts, data, slot: this.slot, failed }));
  }

  /** The root of the log of the ledger's first `count` events, undefined above the last one. */
  rootAt(count: bigint): Hash32 | undefined {
    const logged = this.loggedAt(count);
    return logged && rootOf(logged);
  }

  /** The ledger's first `count` events, undefined above the last one. */
  loggedAt(count: bigint): LoggedEvents | undefined {
    return this.#logged[Number(count)];
  }

  /** The transaction that brought an escrow into its state. */
  protected transactionOf(escrow: Escrow): ChainTransaction {
    return transactionOf(this.deployment, escrow, this.slot);
  }

  #happened(escrow: Escrow): void {
    const { address, state } = escrow;
    this.escrows.set(address, escrow);
    this.put(accountOf(address, this.deployment.custodyProgram, encodeEscrowAccount(escrow)));
    this.#putConfig();
    const landed = this.transactionOf(escrow);
    this.record(landed);
    const { signature, slot } = landed;
    this.references.set(`${address}:${KINDS[state]}`, { signature, slot });
  }

  #putConfig(): void {
    const { config, count, logged } = this.custodyLog;
    this.#logged[Number(count)] = logged;
    this.put(config);
  }
}

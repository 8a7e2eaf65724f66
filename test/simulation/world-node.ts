import type { Address } from "../../core/domain/address.ts";
import type { Escrow } from "../../core/domain/escrow/escrow.ts";
import type { LedgerAccount } from "../../core/domain/ledger/account.ts";
import type { Merchant } from "../../core/domain/merchant/merchant.ts";
import { encodeEscrowAccount } from "../../core/protocol/accounts/escrow-account.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { encodeMerchantAccount } from "../../core/protocol/accounts/merchant-account.ts";
import { CLOCK_SYSVAR } from "../../core/protocol/addresses/well-known-addresses.ts";
import { clockData } from "../doubles/accounts.ts";
import { registryOf } from "../doubles/registry.ts";
import { type AccountFilter, passing } from "./account-filters.ts";
import { CustodyLog } from "./custody-log.ts";
import { pendingOf, walletOf, WORLD_TIME } from "./world-escrow.ts";
import {
  merchantTransaction,
  transactionJson,
  transactionOf,
  type WorldTransaction,
} from "./world-transaction.ts";

/** An account. `listedBy` is a program for which a lying node lists it, whatever its owner and the filters. */
type Account = Pick<LedgerAccount, "owner" | "data"> & { readonly listedBy?: Address };

/** What a JSON-RPC method answers: a result, or an error object. */
export type RpcAnswer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string } };

type Options = {
  readonly filters?: ReadonlyArray<AccountFilter>;
  readonly dataSlice?: { readonly offset: number; readonly length: number };
  readonly minContextSlot?: number;
  readonly limit?: number;
  readonly before?: string;
};

const SYSVAR_OWNER = walletOf("sysvar");
const MAX_U64 = "18446744073709551615";
/** JSON-RPC's "minimum context slot has not been reached" (Agave `rpc-client-api`, `custom_error`). */
const BEHIND = -32_016;

const sliced = (data: Uint8Array, slice: Options["dataSlice"]): Uint8Array =>
  slice === undefined ? data : data.subarray(slice.offset, slice.offset + slice.length);

/** An account in a node's JSON. With `slice`, its data is cut to that. */
export const accountText = ({ owner, data }: Account, slice?: Options["dataSlice"]): string =>
  `{"data":["${Buffer.from(sliced(data, slice)).toString("base64")}","base64"],"executable":false,"lamports":3340800,"owner":"${owner}","rentEpoch":${MAX_U64},"space":${data.length}}`;

/** JSON text that is inserted unchanged, because its numbers exceed what JSON.stringify can write. */
export class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** The most past slots that are kept. */
const PAST = 64;

/** The accounts, slot and history of a simulated ledger, with the answers of a Solana node. */
export class WorldNode {
  #slot = 1000;
  /** Whether each slot's state is kept, so that `behind` knows it. */
  keepsPast = false;
  /** Called with each transaction that lands. */
  readonly listeners = new Set<(landed: WorldTransaction) => void>();
  #past: Array<WorldNode> = [];
  /** The first slot in its history, as the node reports it. */
  firstBlock = 0;
  /** Whether it lists every account of a program, ignoring filters. */
  ignoresFilters = false;
  readonly genesisHash: string;
  readonly accounts: Map<Address, Account>;
  /** The escrows among the accounts, in their present state. */
  readonly escrows = new Map<Address, Escrow>();
  /** The merchants among the accounts, in their present state. */
  readonly merchants = new Map<Address, Merchant>();
  readonly custodyLog = new CustodyLog(LOCAL_DEPLOYMENT);
  /** Oldest first. */
  readonly history: Array<WorldTransaction>;
  readonly #bySignature = new Map<string, WorldTransaction>();
  readonly asked: Record<string, number> = {};

  /** An empty ledger with a genesis hash of that label, or with the state that another one has. */
  constructor(from: string | WorldNode = "genesis") {
    const copied = typeof from === "string" ? null : from;
    this.genesisHash = typeof from === "string" ? walletOf(from) : from.genesisHash;
    this.accounts = new Map(copied?.accounts);
    this.history = [...(copied?.history ?? [])];
    for (const one of this.history) this.#bySignature.set(one.signature, one);
    if (copied === null) {
      this.#putConfig();
      const registry = registryOf(LOCAL_DEPLOYMENT);
      this.accounts.set(registry.address, registry);
    } else [this.#slot, this.firstBlock] = [copied.slot, copied.firstBlock];
  }

  /** The newest slot. Setting it ends the one before. */
  get slot(): number {
    return this.#slot;
  }
  set slot(slot: number) {
    if (this.keepsPast && slot > this.#slot) {
      this.#past.push(new WorldNode(this));
      this.#past = this.#past.slice(-PAST);
    }
    this.#slot = slot;
  }

  /** The ledger as it was some slots ago, as far back as slots are kept. */
  behind(slots: number): WorldNode {
    const slot = this.#slot - slots;
    const known = slots === 0 ? undefined : this.#past.findLast((one) => one.slot <= slot);
    if (known === undefined) return this;
    const then = new WorldNode(known);
    then.slot = slot;
    return then;
  }

  /** Sets an escrow's account at the present slot, with the next numbers of the ledger's events, and adds the transactions that caused it to the history. */
  putEscrow(row: Escrow): void {
    const known = this.escrows.get(row.address);
    const pending = known ?? this.custodyLog.create(pendingOf(row));
    if (known === undefined && row.state !== "Pending")
      this.record(transactionOf(pending, this.slot));
    const { createdSeq } = pending;
    const escrow =
      row.state === "Pending" ? pending : this.custodyLog.settle({ ...row, createdSeq });
    this.escrows.set(escrow.address, escrow);
    this.#putConfig();
    this.accounts.set(escrow.address, {
      owner: LOCAL_DEPLOYMENT.custodyProgram,
      data: encodeEscrowAccount(escrow),
    });
    this.record(transactionOf(escrow, this.slot));
  }

  #putConfig(): void {
    this.accounts.set(this.custodyLog.address, {
      owner: LOCAL_DEPLOYMENT.custodyProgram,
      data: this.custodyLog.configData,
    });
  }

  /** Forgets every transaction so far, and says so. */
  prune(): void {
    this.history.length = 0;
    this.firstBlock = this.slot;
  }

  putMerchant(merchant: Merchant): void {
    this.merchants.set(merchant.address, merchant);
    this.accounts.set(merchant.address, {
      owner: LOCAL_DEPLOYMENT.attestorProgram,
      data: encodeMerchantAccount(merchant),
    });
  }

  /** Sets a merchant's account and adds a transaction that names it to the history. */
  changeMerchant(merchant: Merchant): void {
    this.putMerchant(merchant);
    this.record(merchantTransaction(merchant, this.slot, this.history.length));
  }

  record(transaction: WorldTransaction): void {
    this.history.push(transaction);
    this.#bySignature.set(transaction.signature, transaction);
    for (const hear of this.listeners) hear(transaction);
  }

  answer(method: string, params: ReadonlyArray<unknown>): RpcAnswer {
    this.asked[method] = (this.asked[method] ?? 0) + 1;
    const options = (params.find((one) => typeof one === "object" && !Array.isArray(one)) ??
      {}) as Options;
    if ((options.minContextSlot ?? 0) > this.slot)
      return { error: { code: BEHIND, message: "Minimum context slot has not been reached" } };
    switch (method) {
      case "getGenesisHash":
        return { result: this.genesisHash };
      case "getEpochInfo":
        return { result: { absoluteSlot: this.slot, blockHeight: this.slot, epoch: 0 } };
      case "getFirstAvailableBlock":
        return { result: this.firstBlock };
      case "getMultipleAccounts":
        return { result: this.#multiple(params[0] as ReadonlyArray<Address>, options) };
      case "getProgramAccounts":
        return { result: this.#owned(params[0] as Address, options) };
      case "getSignaturesForAddress":
        return { result: this.#signatures(params[0] as Address, options) };
      case "getTransaction": {
        const found = this.#bySignature.get(params[0] as string);
        return { result: found === undefined ? null : transactionJson(found) };
      }
      default:
        return { error: { code: -32_601, message: "Method not found" } };
    }
  }

  #atSlot(value: string): JsonText {
    return new JsonText(
      `{"context":{"apiVersion":"3.0.0","slot":${this.slot}},"value":[${value}]}`,
    );
  }

  #multiple(addresses: ReadonlyArray<Address>, { dataSlice }: Options): JsonText {
    const texts = addresses.map((address) => {
      if (address === CLOCK_SYSVAR)
        return accountText({ owner: SYSVAR_OWNER, data: clockData(WORLD_TIME) });
      const account = this.accounts.get(address);
      return account === undefined ? "null" : accountText(account, dataSlice);
    });
    return this.#atSlot(texts.join(","));
  }

  #owned(program: Address, { filters = [] }: Options): JsonText {
    const isWanted = passing(this.ignoresFilters ? [] : filters);
    const texts: Array<string> = [];
    for (const [address, account] of this.accounts) {
      const { owner, data, listedBy } = account;
      if ((listedBy ?? owner) !== program) continue;
      if (listedBy === undefined && !isWanted(data)) continue;
      texts.push(`{"account":${accountText(account)},"pubkey":"${address}"}`);
    }
    return this.#atSlot(texts.join(","));
  }

  #signatures(address: Address, { limit = 1000, before }: Options): ReadonlyArray<unknown> {
    const known = before === undefined ? undefined : this.#bySignature.get(before);
    if (before !== undefined && known === undefined) return [];
    const newest = known === undefined ? this.history.length : this.history.indexOf(known);
    const page: Array<unknown> = [];
    for (let i = newest - 1; i >= 0 && page.length < limit; i--) {
      const one = this.history[i];
      if (one === undefined || !one.accounts.includes(address)) continue;
      const err = one.failed ? { InstructionError: [0, { Custom: 6000 }] } : null;
      const { signature, slot, blockTime } = one;
      page.push({ signature, slot, blockTime, err, memo: null, confirmationStatus: "finalized" });
    }
    return page;
  }
}

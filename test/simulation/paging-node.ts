import type { Address } from "../../core/domain/address.ts";
import { decodeBase58 } from "../../core/domain/encoding/base58.ts";
import { type AccountFilter, passing } from "./account-filters.ts";
import {
  eventOfSignature,
  type PagingLedger,
  signatureOfEvent,
  type WrittenAccount,
} from "./paging-ledger.ts";
import type { RpcCall } from "./serve-node.ts";
import { accountText, JsonText, type RpcAnswer } from "./world-node.ts";
import { transactionJson } from "./world-transaction.ts";

const METHOD_NOT_FOUND = -32_601;
const INVALID_PARAMS = -32_602;
const SCAN_FAILED = -32_012;
/** Like public nodes, it refuses larger answers of the classic scan. */
const MOST_AT_ONCE = 200_000;

/** What a provider offers beside the methods of every node. */
export type Offers = {
  /** getProgramAccountsV2. */
  readonly pages: boolean;
  /** getTransactionsForAddress. */
  readonly transactions: boolean;
};

type Options = {
  readonly filters?: ReadonlyArray<AccountFilter>;
  readonly limit?: number;
  readonly paginationKey?: string;
  readonly changedSinceSlot?: number;
  readonly before?: string;
  readonly paginationToken?: string;
};

const refusal = (code: number, message: string): RpcAnswer => ({ error: { code, message } });

/** The answers of a provider's node over a simulated ledger, as the providers' references describe them. */
export class PagingNode {
  readonly ledger: PagingLedger;
  offers: Offers;
  /** The most accounts of a page, whatever a request's limit is. */
  mostPerPage = 10_000;
  /** Requests by method. */
  readonly asked: Record<string, number> = {};

  constructor(ledger: PagingLedger, offers: Offers = { pages: true, transactions: true }) {
    this.ledger = ledger;
    this.offers = offers;
  }

  /** The answer to a call. */
  answer({ method, params }: RpcCall): RpcAnswer {
    this.asked[method] = (this.asked[method] ?? 0) + 1;
    const { ledger, offers } = this;
    const options = (params.find((one) => typeof one === "object" && !Array.isArray(one)) ??
      {}) as Options;
    switch (method) {
      case "getGenesisHash":
        return { result: ledger.genesisHash };
      case "getEpochInfo":
        return { result: { absoluteSlot: ledger.slot, blockHeight: ledger.slot, epoch: 0 } };
      case "getFirstAvailableBlock":
        return { result: 0 };
      case "getMultipleAccounts":
        return this.#atSlot(`[${this.#multiple(params[0] as ReadonlyArray<Address>)}]`);
      case "getProgramAccounts":
        return this.#classic(params[0] as Address, options);
      case "getProgramAccountsV2":
        if (offers.pages) return this.#page(params[0] as Address, options);
        break;
      case "getSignaturesForAddress":
        return { result: this.#signatures(params[0] as Address, options) };
      case "getTransaction": {
        const bytes = decodeBase58(params[0] as string, 64);
        const found = bytes && ledger.transaction(eventOfSignature(bytes));
        return { result: found === undefined ? null : transactionJson(found) };
      }
      case "getTransactionsForAddress":
        if (offers.transactions) return this.#transactions(params[0] as Address, options);
        break;
    }
    return refusal(METHOD_NOT_FOUND, "Method not found");
  }

  #atSlot(value: string): RpcAnswer {
    const context = `{"apiVersion":"3.0.0","slot":${this.ledger.slot}}`;
    return { result: new JsonText(`{"context":${context},"value":${value}}`) };
  }

  #multiple(addresses: ReadonlyArray<Address>): string {
    const texts = addresses.map((address) => {
      const account = this.ledger.account(address);
      return account === undefined ? "null" : accountText(account);
    });
    return texts.join(",");
  }

  #classic(program: Address, { filters = [] }: Options): RpcAnswer {
    const isWanted = passing(filters);
    if (filters.length < 3 && this.ledger.size > MOST_AT_ONCE)
      return refusal(SCAN_FAILED, "too many accounts");
    const texts: Array<string> = [];
    for (const [, account] of this.ledger.accounts(program, 0, 0))
      if (isWanted(account.data)) texts.push(recordText(account));
    return this.#atSlot(`[${texts.join(",")}]`);
  }

  #page(
    program: Address,
    { filters = [], limit = 1000, paginationKey, changedSinceSlot = 0 }: Options,
  ): RpcAnswer {
    const isWanted = passing(filters);
    const from = paginationKey === undefined ? 0 : Number(/^after-(\d+)$/.exec(paginationKey)?.[1]);
    if (!Number.isInteger(from)) return refusal(INVALID_PARAMS, "Invalid paginationKey");
    const texts: Array<string> = [];
    let next: string | null = null;
    for (const [at, account] of this.ledger.accounts(program, from, changedSinceSlot)) {
      if (!isWanted(account.data)) continue;
      if (texts.length === Math.min(limit, this.mostPerPage)) {
        next = `after-${at}`;
        break;
      }
      texts.push(recordText(account));
    }
    const key = next === null ? "null" : `"${next}"`;
    return this.#atSlot(`{"accounts":[${texts.join(",")}],"paginationKey":${key}}`);
  }

  #signatures(address: Address, { limit = 1000, before }: Options): ReadonlyArray<unknown> {
    const events = this.ledger.eventsOf(address);
    const known = before === undefined ? undefined : decodeBase58(before, 64);
    const below = known === undefined ? Number.POSITIVE_INFINITY : eventOfSignature(known);
    const page: Array<unknown> = [];
    const newest =
      address === this.ledger.custodyLog.address ? Math.min(events.count, below - 1) : events.count;
    for (let i = newest - 1; i >= 0 && page.length < limit; i--) {
      const event = events.at(i);
      if (event >= below) continue;
      const { slot = 0, blockTime = 0 } = this.ledger.transaction(event) ?? {};
      const signature = signatureOfEvent(event);
      page.push({
        signature,
        slot,
        blockTime,
        err: null,
        memo: null,
        confirmationStatus: "finalized",
      });
    }
    return page;
  }

  #transactions(address: Address, { limit = 1000, paginationToken }: Options): RpcAnswer {
    const events = this.ledger.eventsOf(address);
    const from = Number(paginationToken?.split(":")[1] ?? 0);
    if (!Number.isInteger(from)) return refusal(INVALID_PARAMS, "Invalid paginationToken");
    const data: Array<unknown> = [];
    let at = from;
    for (; at < events.count && data.length < limit; at++) {
      const found = this.ledger.transaction(events.at(at));
      if (found !== undefined)
        data.push({ ...(transactionJson(found) as object), transactionIndex: 0 });
    }
    const slot = this.ledger.slot;
    return { result: { data, paginationToken: at < events.count ? `${slot}:${at}` : null } };
  }
}

const recordText = (account: WrittenAccount): string =>
  `{"account":${accountText(account)},"pubkey":"${account.address}"}`;

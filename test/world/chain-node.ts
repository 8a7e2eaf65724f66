import type { Address } from "../../core/domain/address.ts";
import { encodeBase58 } from "../../core/domain/encoding/base58.ts";
import type { LedgerAccount } from "../../core/domain/ledger/account.ts";
import type { TransactionError } from "../../core/domain/relay/relay-entry.ts";
import { type AccountFilter, passing } from "../simulation/account-filters.ts";
import { walletOf } from "../simulation/world-escrow.ts";
import type { ChainTransaction, ChainView } from "./chain.ts";
import { type RpcCall, type RpcAnswer, JsonText } from "./rpc-answer.ts";

/** What a provider offers beside the methods of every node. */
export type Offers = {
  /** getProgramAccountsV2. */
  readonly pages: boolean;
  /** getTransactionsForAddress. */
  readonly transactions: boolean;
};

type Options = {
  readonly commitment?: string;
  readonly filters?: ReadonlyArray<AccountFilter>;
  readonly dataSlice?: { readonly offset: number; readonly length: number };
  readonly minContextSlot?: number;
  readonly limit?: number;
  readonly before?: string;
  readonly paginationKey?: string;
  readonly changedSinceSlot?: number;
  readonly paginationToken?: string;
};

const METHOD_NOT_FOUND = -32_601;
const INVALID_PARAMS = -32_602;
const SCAN_FAILED = -32_012;
/** JSON-RPC's "minimum context slot has not been reached" (Agave `rpc-client-api`, `custom_error`). */
const BEHIND = -32_016;
/**
 * The most accounts of the classic scan. Like public nodes, it refuses more, unless the filters choose a part of a
 * kind.
 */
const MOST_AT_ONCE = 200_000;
const MAX_U64 = "18446744073709551615";

const refusal = (code: number, message: string): RpcAnswer => ({ error: { code, message } });

const sliced = (data: Uint8Array, slice: Options["dataSlice"]): Uint8Array =>
  slice === undefined ? data : data.subarray(slice.offset, slice.offset + slice.length);

/** An account in a node's JSON. With `slice`, its data is cut to that. */
export const accountText = (
  {
    owner,
    data,
    lamports = 1n,
  }: Pick<LedgerAccount, "owner" | "data"> & Partial<Pick<LedgerAccount, "lamports">>,
  slice?: Options["dataSlice"],
): string =>
  `{"data":["${Buffer.from(sliced(data, slice)).toString("base64")}","base64"],"executable":false,"lamports":${lamports},"owner":"${owner}","rentEpoch":${MAX_U64},"space":${data.length}}`;

const recordText = (account: LedgerAccount): string =>
  `{"account":${accountText(account)},"pubkey":"${account.address}"}`;

/** A transaction's error as a node writes it (Agave `TransactionError`, serde's JSON). */
export const errorJson = (error: TransactionError | null): unknown => {
  if (error === null || error.instructionIndex === null) return error?.kind ?? null;
  const { instructionIndex, instructionError, customCode } = error;
  const inner = instructionError === "Custom" ? { Custom: customCode } : instructionError;
  return { [error.kind]: [instructionIndex, inner] };
};

const listedJson = ({ signature, slot, time, error }: ChainTransaction): unknown => ({
  signature,
  slot: Number(slot),
  blockTime: Number(time),
  err: errorJson(error),
  memo: null,
  confirmationStatus: "finalized",
});

/** getTransaction's result (Agave `EncodedConfirmedTransactionWithStatusMeta`, `encoding: "json"`). */
const transactionJson = (transaction: ChainTransaction): object => {
  const { signature, slot, time, error, accounts, signers, instructions, logs } = transaction;
  const place = (address: Address): number => accounts.indexOf(address);
  return {
    slot: Number(slot),
    blockTime: Number(time),
    version: "legacy",
    meta: {
      err: errorJson(error),
      innerInstructions: [],
      loadedAddresses: { writable: [], readonly: [] },
      logMessages: logs,
    },
    transaction: {
      signatures: [signature],
      message: {
        header: {
          numRequiredSignatures: signers.size,
          numReadonlySignedAccounts: 0,
          numReadonlyUnsignedAccounts: 1,
        },
        accountKeys: accounts,
        recentBlockhash: walletOf("blockhash"),
        instructions: instructions.map((each) => ({
          programIdIndex: place(each.program),
          accounts: each.accounts.map(place),
          data: encodeBase58(each.data ?? new Uint8Array()),
        })),
      },
    },
  };
};

/** A chain as a node's JSON-RPC shows it, as the providers' references describe it. */
export class ChainNode<View extends ChainView = ChainView> {
  readonly chain: View;
  offers: Offers;
  /** The most accounts of a page, whatever a request's limit is. */
  mostPerPage = 10_000;
  /** Requests by method. */
  readonly asked: Record<string, number> = {};

  constructor(chain: View, offers: Offers = { pages: false, transactions: false }) {
    this.chain = chain;
    this.offers = offers;
  }

  /** The answer to a call, as the node gave it `lag` slots ago. */
  readonly answer = (call: Pick<RpcCall, "method" | "params">, lag = 0): RpcAnswer => {
    const { method, params } = call;
    this.asked[method] = (this.asked[method] ?? 0) + 1;
    const { chain, offers } = this;
    const options = (params.find((one) => typeof one === "object" && !Array.isArray(one)) ??
      {}) as Options;
    const isFinal = options.commitment !== "confirmed";
    const newest = chain.slot - BigInt(lag);
    const slot = isFinal ? newest - chain.finality : newest;
    if (BigInt(options.minContextSlot ?? 0) > slot)
      return refusal(BEHIND, "Minimum context slot has not been reached");
    switch (method) {
      case "getGenesisHash":
        return { result: chain.genesisHash };
      case "getEpochInfo":
        return { result: { absoluteSlot: Number(slot), blockHeight: Number(slot), epoch: 0 } };
      case "getFirstAvailableBlock":
        return { result: Number(chain.firstSlot) };
      case "getMultipleAccounts":
        return this.#multiple(params[0] as ReadonlyArray<Address>, options, slot);
      case "getProgramAccounts":
        return this.#classic(params[0] as Address, options, slot);
      case "getProgramAccountsV2":
        if (offers.pages) return this.#page(params[0] as Address, options, slot);
        break;
      case "getSignaturesForAddress": {
        const { before = null, limit = 1000 } = options;
        const page = chain.newestOf(params[0] as Address, slot, before, limit);
        return { result: page.map(listedJson) };
      }
      case "getTransaction": {
        const shown = chain.transaction(params[0] as string);
        const isThere = shown !== undefined && shown.slot <= slot;
        return { result: isThere ? transactionJson(shown) : null };
      }
      case "getTransactionsForAddress":
        if (offers.transactions) return this.#transactions(params[0] as Address, options, slot);
        break;
    }
    return refusal(METHOD_NOT_FOUND, "Method not found");
  };

  #multiple(addresses: ReadonlyArray<Address>, { dataSlice }: Options, slot: bigint): RpcAnswer {
    const texts = addresses.map((address) => {
      const account = this.chain.accountAt(address, slot);
      return account === null ? "null" : accountText(account, dataSlice);
    });
    return atSlot(slot, `[${texts.join(",")}]`);
  }

  #classic(program: Address, { filters = [] }: Options, slot: bigint): RpcAnswer {
    const isWanted = passing(filters);
    if (filters.length < 3 && this.chain.size > MOST_AT_ONCE)
      return refusal(SCAN_FAILED, "too many accounts");
    const texts: Array<string> = [];
    for (const [, account] of this.chain.accountsOf(program, slot))
      if (account.listedBy !== undefined || isWanted(account.data)) texts.push(recordText(account));
    return atSlot(slot, `[${texts.join(",")}]`);
  }

  #page(
    program: Address,
    { filters = [], limit = 1000, paginationKey, changedSinceSlot = 0 }: Options,
    slot: bigint,
  ): RpcAnswer {
    const isWanted = passing(filters);
    const from = paginationKey === undefined ? 0 : Number(/^after-(\d+)$/.exec(paginationKey)?.[1]);
    if (!Number.isInteger(from)) return refusal(INVALID_PARAMS, "Invalid paginationKey");
    const texts: Array<string> = [];
    let next: string | null = null;
    const since = BigInt(changedSinceSlot);
    for (const [at, account] of this.chain.accountsOf(program, slot, from, since)) {
      if (!isWanted(account.data)) continue;
      if (texts.length === Math.min(limit, this.mostPerPage)) {
        next = `after-${at}`;
        break;
      }
      texts.push(recordText(account));
    }
    const key = next === null ? "null" : `"${next}"`;
    return atSlot(slot, `{"accounts":[${texts.join(",")}],"paginationKey":${key}}`);
  }

  #transactions(
    address: Address,
    { limit = 1000, paginationToken }: Options,
    slot: bigint,
  ): RpcAnswer {
    const from = Number(paginationToken?.split(":")[1] ?? 0);
    if (!Number.isInteger(from)) return refusal(INVALID_PARAMS, "Invalid paginationToken");
    const shown = this.chain.oldestOf(address, slot, from, limit + 1);
    const data = shown
      .slice(0, limit)
      .map((each) => ({ ...transactionJson(each), transactionIndex: 0 }));
    const token = shown.length > limit ? `${slot}:${from + limit}` : null;
    return { result: { data, paginationToken: token } };
  }
}

const atSlot = (slot: bigint, value: string): RpcAnswer => ({
  result: new JsonText(`{"context":{"apiVersion":"3.0.0","slot":${slot}},"value":${value}}`),
});

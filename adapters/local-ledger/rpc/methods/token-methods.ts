import { type Address, addressToBytes } from "../../../../core/domain/address.ts";
import type { LocalLedger } from "../../runtime/ledger.ts";
import type { AccountState } from "../../runtime/accounts/account-state.ts";
import type { Commitment } from "../../runtime/time/slots.ts";
import {
  isTokenProgram,
  tokenHolding,
  tokenMint,
  uiTokenAmount,
} from "../../runtime/accounts/token-balance.ts";
import { accountEncodingOf, encodeAccount } from "../encoding/account-encoding.ts";
import { readPoint } from "../rpc-context.ts";
import { invalidParams } from "../rpc-error.ts";
import {
  addressOf,
  configOf,
  type RpcConfig,
  type RpcMethod,
  unknownVariant,
  wrongType,
} from "../rpc-params.ts";

/** Reads SPL token mints and accounts. */
export const tokenMethods = (ledger: LocalLedger): Readonly<Record<string, RpcMethod>> => {
  const mintAt = (mint: Address, commitment: Commitment) =>
    tokenMint(ledger.accounts.read(mint, commitment));

  const existing = (address: Address, commitment: Commitment): AccountState => {
    const state = ledger.accounts.read(address, commitment);
    if (state === undefined) throw invalidParams("Invalid param: could not find account");
    return state;
  };

  /** A mint's token program and decimals (Agave `parsed_token_accounts.rs`). @throws RpcError when it is none. */
  const mintOf = (mint: Address, commitment: Commitment) => {
    const state = ledger.accounts.read(mint, commitment);
    if (state === undefined) throw invalidParams("Invalid param: could not find mint");
    const found = tokenMint(state);
    if (found !== undefined) return { program: state.owner, decimals: found.decimals };
    throw invalidParams("Invalid param: Token mint could not be unpacked");
  };

  /** The mint to look for, or undefined for all mints of one token program. */
  const wanted = (
    filter: RpcConfig,
    commitment: Commitment,
  ): { readonly program: Address; readonly mint: Address | undefined } => {
    const names = Object.keys(filter);
    const [name] = names;
    if (names.length !== 1) throw wrongType(filter, "filter", "map with a single key");
    if (name !== "mint" && name !== "programId") throw unknownVariant(name, ["mint", "programId"]);
    if (name === "mint") {
      const mint = addressOf(filter["mint"], "mint");
      return { program: mintOf(mint, commitment).program, mint };
    }
    const program = addressOf(filter["programId"], "programId");
    if (!isTokenProgram(program))
      throw invalidParams("Invalid param: unrecognized Token program id");
    return { program, mint: undefined };
  };

  return {
    getTokenAccountBalance: ([account, options]) => {
      const { commitment, context } = readPoint(ledger, configOf(options));
      const state = existing(addressOf(account), commitment);
      const holding = tokenHolding(state);
      if (holding === undefined) throw invalidParams("Invalid param: not a Token account");
      const mint = mintAt(holding.mint, commitment);
      if (mint === undefined) throw invalidParams("Invalid param: could not find mint");
      return { context, value: uiTokenAmount(holding.amount, mint.decimals) };
    },

    getTokenSupply: ([address, options]) => {
      const { commitment, context } = readPoint(ledger, configOf(options));
      const state = existing(addressOf(address), commitment);
      if (!isTokenProgram(state.owner)) throw invalidParams("Invalid param: not a Token mint");
      const mint = tokenMint(state);
      if (mint === undefined) throw invalidParams("Invalid param: mint could not be unpacked");
      return { context, value: uiTokenAmount(mint.supply, mint.decimals) };
    },

    getTokenAccountsByOwner: ([owner, filter, options]) => {
      const config = configOf(options);
      const { commitment, context } = readPoint(ledger, config);
      const encoding = accountEncodingOf(ledger, config);
      const { program, mint } = wanted(configOf(filter, "filter"), commitment);
      const holder = { offset: 32, bytes: addressToBytes(addressOf(owner)) };
      const bytesAt =
        mint === undefined ? [holder] : [holder, { offset: 0, bytes: addressToBytes(mint) }];
      const value = [];
      for (const [pubkey, state] of ledger.accounts.ofOwner(program, { bytesAt }, commitment))
        if (tokenHolding(state) !== undefined)
          value.push({ pubkey, account: encodeAccount(state, encoding) });
      return { context, value };
    },
  };
};

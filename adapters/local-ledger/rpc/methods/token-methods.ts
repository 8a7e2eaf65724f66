import { type Address, addressToBytes } from "../../../../core/domain/address.ts";
import { TOKEN_PROGRAM } from "../../../../core/protocol/addresses/well-known-addresses.ts";
import type { LocalLedger } from "../../runtime/ledger.ts";
import type { Commitment } from "../../runtime/time/slots.ts";
import {
  isTokenProgram,
  tokenHolding,
  tokenMint,
  uiTokenAmount,
} from "../../runtime/accounts/token-balance.ts";
import { accountEncodingOf, encodeAccount } from "../account-encoding.ts";
import { readPoint } from "../rpc-context.ts";
import { invalidParams } from "../rpc-error.ts";
import { addressOf, configOf, type RpcConfig, type RpcMethod } from "../rpc-params.ts";

/** Reads SPL token mints and accounts. */
export const tokenMethods = (ledger: LocalLedger): Readonly<Record<string, RpcMethod>> => {
  const mintAt = (mint: Address, commitment: Commitment) =>
    tokenMint(ledger.accounts.read(mint, commitment));

  /** The mint to look for; undefined for all mints of one token program. */
  const wanted = (
    filter: RpcConfig,
    commitment: Commitment,
  ): { readonly program: Address; readonly mint: Address | undefined } => {
    if (filter["mint"] !== undefined) {
      const mint = addressOf(filter["mint"], "mint");
      const state = ledger.accounts.read(mint, commitment);
      if (tokenMint(state) === undefined) throw invalidParams("Invalid param: could not find mint");
      return { program: state?.owner ?? TOKEN_PROGRAM, mint };
    }
    const program = addressOf(filter["programId"], "programId");
    if (!isTokenProgram(program))
      throw invalidParams("Invalid param: unrecognized Token program id");
    return { program, mint: undefined };
  };

  return {
    getTokenAccountBalance: ([account, options]) => {
      const { commitment, context } = readPoint(ledger, configOf(options));
      const holding = tokenHolding(ledger.accounts.read(addressOf(account), commitment));
      if (holding === undefined) throw invalidParams("Invalid param: could not find account");
      const mint = mintAt(holding.mint, commitment);
      if (mint === undefined) throw invalidParams("Invalid param: could not find mint");
      return { context, value: uiTokenAmount(holding.amount, mint.decimals) };
    },

    getTokenSupply: ([address, options]) => {
      const { commitment, context } = readPoint(ledger, configOf(options));
      const mint = mintAt(addressOf(address), commitment);
      if (mint === undefined) throw invalidParams("Invalid param: could not find mint");
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

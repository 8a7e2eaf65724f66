import type { LocalLedger } from "../runtime/ledger.ts";
import { accountEncodingOf, encodeAccount, encodeKeyedAccountText } from "./account-encoding.ts";
import { accountFilterOf } from "./account-filter.ts";
import { PreEncoded } from "./pre-encoded.ts";
import { readPoint } from "./rpc-context.ts";
import { addressOf, arrayOf, configOf, type RpcMethod } from "./rpc-params.ts";

/** Most accounts of one getMultipleAccounts (Agave `request.rs`: MAX_MULTIPLE_ACCOUNTS). */
const MAX_MULTIPLE_ACCOUNTS = 100;

/** Reads of accounts by address and by owner. */
export const accountMethods = (ledger: LocalLedger): Readonly<Record<string, RpcMethod>> => ({
  getBalance: ([address, options]) => {
    const { commitment, context } = readPoint(ledger, configOf(options));
    const state = ledger.accounts.read(addressOf(address), commitment);
    return { context, value: state?.lamports ?? 0 };
  },

  getAccountInfo: ([address, options]) => {
    const config = configOf(options);
    const { commitment, context } = readPoint(ledger, config);
    const encoding = accountEncodingOf(config);
    const state = ledger.accounts.read(addressOf(address), commitment);
    return { context, value: state === undefined ? null : encodeAccount(state, encoding) };
  },

  getMultipleAccounts: ([addresses, options]) => {
    const config = configOf(options);
    const { commitment, context } = readPoint(ledger, config);
    const encoding = accountEncodingOf(config, "base64");
    const value = arrayOf(addresses, "pubkeys", MAX_MULTIPLE_ACCOUNTS).map((address) => {
      const state = ledger.accounts.read(addressOf(address), commitment);
      return state === undefined ? null : encodeAccount(state, encoding);
    });
    return { context, value };
  },

  getProgramAccounts: ([program, options]) => {
    const config = configOf(options);
    const { commitment, context } = readPoint(ledger, config);
    const encoding = accountEncodingOf(config);
    const conditions = accountFilterOf(config["filters"]);
    const withContext = config["withContext"] === true;
    const pieces = [withContext ? `{"context":{"slot":${context.slot}},"value":[` : "["];
    let separator = "";
    for (const [address, state] of ledger.accounts.ofOwner(
      addressOf(program),
      conditions,
      commitment,
    )) {
      pieces.push(separator + encodeKeyedAccountText(address, state, encoding));
      separator = ",";
    }
    pieces.push(withContext ? "]}" : "]");
    return new PreEncoded(pieces);
  },
});

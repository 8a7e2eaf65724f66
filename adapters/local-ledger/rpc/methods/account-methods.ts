import type { LocalLedger } from "../../runtime/ledger.ts";
import {
  accountEncodingOf,
  encodeAccount,
  encodeKeyedAccountText,
} from "../encoding/account-encoding.ts";
import { accountFilterOf } from "../account-filter.ts";
import { PreEncoded } from "../encoding/pre-encoded.ts";
import { readPoint } from "../rpc-context.ts";
import { addressOf, arrayOf, configOf, flagOf, type RpcMethod } from "../rpc-params.ts";

/** Most accounts of one getMultipleAccounts (Agave `request.rs`: MAX_MULTIPLE_ACCOUNTS). */
const MAX_MULTIPLE_ACCOUNTS = 100;

/** Rows joined at once. A list of 100,000 accounts is 70 MB of text and must not also be 100,000 strings. */
const ROWS_OF_A_PIECE = 512;

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
    const encoding = accountEncodingOf(ledger, config);
    const state = ledger.accounts.read(addressOf(address), commitment);
    return { context, value: state === undefined ? null : encodeAccount(state, encoding) };
  },

  getMultipleAccounts: ([addresses, options]) => {
    const config = configOf(options);
    const { commitment, context } = readPoint(ledger, config);
    const encoding = accountEncodingOf(ledger, config, "base64");
    const value = arrayOf(addresses, "pubkeys", MAX_MULTIPLE_ACCOUNTS).map((address) => {
      const state = ledger.accounts.read(addressOf(address), commitment);
      return state === undefined ? null : encodeAccount(state, encoding);
    });
    return { context, value };
  },

  getProgramAccounts: ([program, options]) => {
    const config = configOf(options);
    const { commitment, context } = readPoint(ledger, config);
    const encoding = accountEncodingOf(ledger, config);
    const conditions = accountFilterOf(config["filters"]);
    const withContext = flagOf(config["withContext"], "withContext");
    const pieces = [withContext ? `{"context":${JSON.stringify(context)},"value":[` : "["];
    const owner = addressOf(program);
    let rows: Array<string> = [];
    const flush = (): void => {
      pieces.push((pieces.length > 1 ? "," : "") + rows.join(","));
      rows = [];
    };
    for (const [address, state] of ledger.accounts.ofOwner(owner, conditions, commitment)) {
      rows.push(encodeKeyedAccountText(address, state, encoding));
      if (rows.length === ROWS_OF_A_PIECE) flush();
    }
    if (rows.length > 0) flush();
    pieces.push(withContext ? "]}" : "]");
    return new PreEncoded(pieces);
  },
});

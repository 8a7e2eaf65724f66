import { parseAddress } from "../../../../core/domain/address.ts";
import type { WireTransaction } from "../../../../core/protocol/transaction/wire-transaction.ts";
import type { LocalLedger } from "../../runtime/ledger.ts";
import { describeTransactionError } from "../../runtime/transactions/transaction-error.ts";
import { innerInstructionsOf, returnDataOf } from "../../runtime/transactions/transaction-meta.ts";
import { accountEncodingOf, encodeAccount } from "../account-encoding.ts";
import { assertMinContextSlot } from "../rpc-context.ts";
import { invalidParams, RpcError, RpcErrorCode } from "../rpc-error.ts";
import { arrayOf, commitmentOf, configOf, type RpcConfig, type RpcMethod } from "../rpc-params.ts";
import { transactionOf } from "../transaction-encoding.ts";

/** Sends and simulates transactions. A simulation runs on the newest state and reports its slot. */
export const transactionMethods = (ledger: LocalLedger): Readonly<Record<string, RpcMethod>> => {
  const simulate = (
    transaction: WireTransaction,
    checks: { readonly signatures: boolean; readonly lifetime: boolean },
  ) => {
    const run = ledger.simulate(transaction, checks);
    const { slot, refused, metadata, error, after } = run;
    if (error === "SignatureFailure")
      throw new RpcError(
        RpcErrorCode.transactionSignatureVerificationFailure,
        "Transaction signature verification failure",
      );
    const ran = refused === undefined;
    const value = {
      err: refused ?? error ?? null,
      logs: ran ? metadata.logs() : [],
      accounts: null,
      unitsConsumed: ran ? metadata.computeUnitsConsumed() : 0,
      returnData: ran ? (returnDataOf(metadata) ?? null) : null,
      innerInstructions: null,
      loadedAccountsDataSize: 0,
      replacementBlockhash: null,
    };
    return { slot, value, metadata, after };
  };

  const requestedAccounts = (
    config: RpcConfig,
    failed: boolean,
    after: ReturnType<LocalLedger["simulate"]>["after"],
  ) => {
    if (config["accounts"] === undefined || config["accounts"] === null) return null;
    const asked = configOf(config["accounts"], "accounts");
    const encoding = accountEncodingOf(ledger, asked, "base64");
    return arrayOf(asked["addresses"], "accounts.addresses", 256).map((text) => {
      const address = typeof text === "string" ? parseAddress(text) : undefined;
      if (address === undefined) throw invalidParams("Invalid param: Invalid");
      if (failed) return null;
      const state = after.get(address) ?? ledger.accounts.read(address, "processed");
      return state === undefined || state.lamports === 0n ? null : encodeAccount(state, encoding);
    });
  };

  return {
    sendTransaction: ([wire, options]) => {
      const config = configOf(options);
      commitmentOf(config, "preflightCommitment");
      const transaction = transactionOf(wire, config);
      assertMinContextSlot(config, ledger.slots.current());
      if (config["skipPreflight"] !== true) {
        const { value } = simulate(transaction, { signatures: true, lifetime: true });
        if (value.err !== null)
          throw new RpcError(
            RpcErrorCode.sendTransactionPreflightFailure,
            `Transaction simulation failed: ${describeTransactionError(value.err)}`,
            value,
          );
      }
      // As on a cluster, a transaction dropped without preflight is no error here: it never lands.
      ledger.submit(transaction);
      return transaction.signature;
    },

    simulateTransaction: ([wire, options]) => {
      const config = configOf(options);
      commitmentOf(config);
      const signatures = config["sigVerify"] === true;
      const replace = config["replaceRecentBlockhash"] === true;
      if (signatures && replace)
        throw invalidParams("sigVerify may not be used with replaceRecentBlockhash");
      const transaction = transactionOf(wire, config);
      assertMinContextSlot(config, ledger.slots.current());
      const run = simulate(transaction, { signatures, lifetime: !replace });
      const { slot, value, metadata, after } = run;
      return {
        context: { slot },
        value: {
          ...value,
          accounts: requestedAccounts(config, value.err !== null, after),
          innerInstructions:
            config["innerInstructions"] === true ? innerInstructionsOf(metadata) : null,
          replacementBlockhash: replace ? ledger.latestBlockhash() : null,
        },
      };
    },
  };
};

import type { WireTransaction } from "../../../../core/protocol/transaction/wire-transaction.ts";
import type { LocalLedger } from "../../runtime/ledger.ts";
import { describeTransactionError } from "../../runtime/transactions/transaction-error.ts";
import { innerInstructionsOf, returnDataOf } from "../../runtime/transactions/transaction-log.ts";
import { accountEncodingOf, encodeAccount } from "../encoding/account-encoding.ts";
import { assertMinContextSlot, contextAt } from "../rpc-context.ts";
import {
  addressOf,
  arrayOf,
  commitmentOf,
  configOf,
  flagOf,
  invalidParams,
  type RpcConfig,
  RpcError,
  RpcErrorCode,
  type RpcMethod,
} from "../rpc-params.ts";
import { transactionOf } from "../encoding/transaction-encoding.ts";

/** Sends and simulates transactions. A simulation runs on the newest state and reports its slot. */
export const transactionMethods = (ledger: LocalLedger): Readonly<Record<string, RpcMethod>> => {
  const simulate = (
    transaction: WireTransaction,
    checks: { readonly signatures: boolean; readonly lifetime: boolean },
  ) => {
    const run = ledger.simulate(transaction, checks);
    if (run.badSignature)
      throw new RpcError(
        RpcErrorCode.transactionSignatureVerificationFailure,
        "Transaction signature verification failure",
      );
    return run;
  };

  /** A simulation as nodes show it (Agave `rpc-client-types`: RpcSimulateTransactionResult). */
  const simulationResult = (run: ReturnType<typeof simulate>) => ({
    err: run.error ?? null,
    logs: run.executed ? run.metadata.logs() : [],
    accounts: null,
    unitsConsumed: run.executed ? run.metadata.computeUnitsConsumed() : 0,
    loadedAccountsDataSize: run.loadedAccountsDataSize(),
    returnData: run.executed ? (returnDataOf(run.metadata) ?? null) : null,
    innerInstructions: null,
    replacementBlockhash: null,
    ...run.balances(),
  });

  const requestedAccounts = (
    config: RpcConfig,
    { staticAccounts, tables }: WireTransaction,
    failed: boolean,
    after: ReturnType<LocalLedger["simulate"]>["after"],
  ) => {
    if (config["accounts"] === undefined || config["accounts"] === null) return null;
    const accountsConfig = configOf(config["accounts"], "accounts");
    const encoding = accountEncodingOf(ledger, accountsConfig, "base64");
    if (encoding.encoding === "binary" || encoding.encoding === "base58")
      throw invalidParams("base58 encoding not supported");
    const accountCount = tables.reduce(
      (sum, { writable, readonly }) => sum + writable.length + readonly.length,
      staticAccounts.length,
    );
    const addresses = arrayOf(
      accountsConfig["addresses"],
      "accounts.addresses",
      Number.MAX_SAFE_INTEGER,
    );
    if (addresses.length > accountCount)
      throw invalidParams(`Too many accounts provided; max ${accountCount}`);
    return addresses.map((text) => {
      const address = addressOf(text);
      if (failed) return null;
      const state = after.get(address) ?? ledger.accounts.read(address, "processed");
      return state === undefined || state.lamports === 0n ? null : encodeAccount(state, encoding);
    });
  };

  return {
    sendTransaction: ([wire, options]) => {
      const config = configOf(options);
      commitmentOf(config, "preflightCommitment");
      const skipPreflight = flagOf(config["skipPreflight"], "skipPreflight");
      const transaction = transactionOf(wire, config);
      assertMinContextSlot(config, ledger.slots.current());
      if (!skipPreflight) {
        const run = simulate(transaction, { signatures: true, lifetime: true });
        if (run.error !== undefined)
          throw new RpcError(
            RpcErrorCode.sendTransactionPreflightFailure,
            `Transaction simulation failed: ${describeTransactionError(run.error)}`,
            simulationResult(run),
          );
      }
      // As on a cluster, a transaction dropped without preflight is no error here: it never lands.
      ledger.submit(transaction);
      return transaction.signature;
    },

    simulateTransaction: ([wire, options]) => {
      const config = configOf(options);
      commitmentOf(config);
      const signatures = flagOf(config["sigVerify"], "sigVerify");
      const replace = flagOf(config["replaceRecentBlockhash"], "replaceRecentBlockhash");
      const inner = flagOf(config["innerInstructions"], "innerInstructions");
      if (signatures && replace)
        throw invalidParams("sigVerify may not be used with replaceRecentBlockhash");
      const transaction = transactionOf(wire, config);
      assertMinContextSlot(config, ledger.slots.current());
      const run = simulate(transaction, { signatures, lifetime: !replace });
      return {
        context: contextAt(run.slot),
        value: {
          ...simulationResult(run),
          accounts: requestedAccounts(config, transaction, run.error !== undefined, run.after),
          innerInstructions: inner && run.executed ? innerInstructionsOf(run.metadata) : null,
          replacementBlockhash: replace ? ledger.latestBlockhash() : null,
        },
      };
    },
  };
};

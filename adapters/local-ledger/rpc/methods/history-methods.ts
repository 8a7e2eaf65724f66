import type { LocalLedger } from "../../runtime/ledger.ts";
import type { Commitment } from "../../runtime/time/slots.ts";
import type { LoggedSignature } from "../../runtime/transactions/transaction-log.ts";
import { contextAt, readPoint } from "../rpc-context.ts";
import {
  addressOf,
  arrayOf,
  configOf,
  invalidParams,
  optionalNumberOf,
  type RpcConfig,
  type RpcMethod,
  signatureOf,
} from "../rpc-params.ts";
import {
  transactionConfigOf,
  versionFor,
  viewTransaction,
} from "../encoding/transaction-encoding.ts";

/**
 * Most signatures of one call (Agave `request.rs`: MAX_GET_SIGNATURE_STATUSES_QUERY_ITEMS and
 * MAX_GET_CONFIRMED_SIGNATURES_FOR_ADDRESS2_LIMIT).
 */
const MAX_STATUSES = 256;
const MAX_SIGNATURES = 1000;

/** Statuses, an address's signatures, and whole transactions. The ledger keeps all of them. */
export const historyMethods = (ledger: LocalLedger): Readonly<Record<string, RpcMethod>> => {
  const finalizedPoint = (config: RpcConfig) => {
    const point = readPoint(ledger, config);
    if (point.commitment === "processed")
      throw invalidParams("Method does not support commitment below `confirmed`");
    return point;
  };

  const commitmentAt = (slot: number): Commitment =>
    slot >= ledger.slots.current()
      ? "processed"
      : slot > ledger.slots.visible("finalized")
        ? "confirmed"
        : "finalized";

  const status = (logged: LoggedSignature | undefined) => {
    if (logged === undefined) return null;
    const commitment = commitmentAt(logged.slot);
    return {
      slot: logged.slot,
      confirmations: commitment === "finalized" ? null : ledger.slots.current() - logged.slot,
      err: logged.error,
      status: logged.error === null ? { Ok: null } : { Err: logged.error },
      confirmationStatus: commitment,
    };
  };

  return {
    getSignatureStatuses: ([signatures, options]) => {
      configOf(options);
      const value = arrayOf(signatures, "signatures", MAX_STATUSES).map((signature) =>
        status(ledger.log.find(signatureOf(signature))),
      );
      return { context: contextAt(ledger.slots.current()), value };
    },

    getSignaturesForAddress: ([address, options]) => {
      const config = configOf(options);
      const { context } = finalizedPoint(config);
      const limit = optionalNumberOf(config["limit"], "limit", MAX_SIGNATURES, "usize");
      if (limit === 0 || limit > MAX_SIGNATURES)
        throw invalidParams(`Invalid limit; max ${MAX_SIGNATURES}`);
      const positionOf = (value: unknown, absent: number, unknown: number): number =>
        value === undefined || value === null
          ? absent
          : (ledger.log.find(signatureOf(value))?.position ?? unknown);
      const signatures = ledger.log.ofAddress(addressOf(address), {
        // With an unknown `before` the list is empty, with an unknown `until` it is complete.
        before: positionOf(config["before"], Number.MAX_SAFE_INTEGER, 0),
        after: positionOf(config["until"], 0, 0),
        maxSlot: context.slot,
        limit,
      });
      return signatures.map(({ signature, slot, error, memo }) => ({
        signature,
        slot,
        err: error,
        memo,
        blockTime: ledger.clock.unixTime(slot),
        confirmationStatus: commitmentAt(slot),
      }));
    },

    getTransaction: ([signature, options]) => {
      const { config, encoding, maxVersion } = transactionConfigOf(options);
      const { context } = finalizedPoint(config);
      const logged = ledger.log.read(signatureOf(signature));
      if (logged === undefined || logged.slot > context.slot) return null;
      const { version, ...view } = viewTransaction(logged, encoding);
      return {
        slot: logged.slot,
        blockTime: ledger.clock.unixTime(logged.slot),
        ...view,
        ...versionFor(version, maxVersion),
      };
    },
  };
};

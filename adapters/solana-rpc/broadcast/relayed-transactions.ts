import { Schema } from "effect";
import type { Address } from "../../../core/domain/address.ts";
import type { LedgerSignature } from "../../../core/domain/ledger/signature.ts";
import { RecentlyUsed } from "../../../core/domain/recently-used.ts";
import type {
  LandedTransaction,
  TransactionError,
} from "../../../core/domain/relay/relay-entry.ts";
import {
  decodeSanitizedTransaction,
  type WireMessage,
} from "../../../core/protocol/transaction/wire-transaction.ts";
import { parseErr, plainError } from "../history/transaction-json.ts";
import type { HighestSlots } from "../pool/highest-slots.ts";
import {
  INVALID_PARAMS,
  PREFLIGHT_FAILED,
  type RpcRefusal,
  SIGNATURE_COUNT_MISMATCH,
  SIGNATURE_VERIFICATION_FAILED,
  UNSUPPORTED_TRANSACTION_VERSION,
} from "../transport/rpc-failure.ts";

const hasErr = Schema.is(Schema.Struct({ err: Schema.Unknown }));
const hasLogs = Schema.is(Schema.Struct({ logs: Schema.Array(Schema.String) }));

/**
 * The runtime's error behind a node's refusal of a transaction, null when there is none. A failed preflight carries the
 * error. A transaction that could not be read or verified has only a code.
 */
export const refusedTransactionError = ({ code, data }: RpcRefusal): TransactionError | null => {
  switch (code) {
    case PREFLIGHT_FAILED:
      return (hasErr(data) ? parseErr(data.err) : undefined) ?? null;
    case SIGNATURE_VERIFICATION_FAILED:
      return plainError("SignatureFailure");
    case UNSUPPORTED_TRANSACTION_VERSION:
      return plainError("UnsupportedVersion");
    case SIGNATURE_COUNT_MISMATCH:
    case INVALID_PARAMS:
      return plainError("SanitizeFailure");
    default:
      return null;
  }
};

/** The log lines of a failed preflight, none otherwise. */
export const refusedTransactionLogs = ({ data }: RpcRefusal): ReadonlyArray<string> =>
  hasLogs(data) ? data.logs : [];

/** The least number of transactions kept, twice as many at most: at 2 KB each, 8 MB. */
const KEPT = 2_000;

/** The accounts that a message itself names to be written. */
const writtenBy = (message: WireMessage): ReadonlyArray<Address> => {
  const { staticAccounts, signerCount, readonlySigners, readonlyOthers } = message;
  return [
    ...staticAccounts.slice(0, signerCount - readonlySigners),
    ...staticAccounts.slice(signerCount, staticAccounts.length - readonlyOthers),
  ];
};

/** The accounts that a serialized transaction itself names to be written, none when it cannot be read. */
export const accountsWritten = (transaction: Uint8Array): ReadonlyArray<Address> => {
  const decoded = decodeSanitizedTransaction(transaction);
  return "value" in decoded ? writtenBy(decoded.value) : [];
};

/**
 * The transactions that were sent here. Once one is seen to have landed, its accounts are not read from before its
 * slot: whoever was told that it landed sees what it did.
 */
export class RelayedTransactions {
  readonly #slots: HighestSlots;
  readonly #accounts = new RecentlyUsed<LedgerSignature, ReadonlyArray<string>>(KEPT);

  constructor(slots: HighestSlots) {
    this.#slots = slots;
  }

  /** Remembers a transaction that is sent. */
  remember(transaction: Uint8Array): void {
    const decoded = decodeSanitizedTransaction(transaction);
    if ("value" in decoded) this.#accounts.set(decoded.value.signature, writtenBy(decoded.value));
  }

  /** Records where transactions landed, as a node with this newest slot shows it. */
  landed(
    signatures: ReadonlyArray<LedgerSignature>,
    landed: ReadonlyArray<LandedTransaction | null>,
    slot: number,
  ): void {
    const { floors } = this.#slots;
    for (const [i, signature] of signatures.entries()) {
      const shown = landed[i] ?? null;
      if (shown === null) continue;
      // Another node may not know yet that it landed, or that it is finalized.
      floors.saw("confirmed", [signature], slot);
      const accounts = this.#accounts.get(signature) ?? [];
      if (shown.commitment !== "processed")
        floors.saw(shown.commitment, accounts, Number(shown.slot));
    }
  }
}

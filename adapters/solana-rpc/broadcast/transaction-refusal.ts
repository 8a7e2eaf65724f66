import { Schema } from "effect";
import type { TransactionError } from "../../../core/domain/relay/transaction-outcome.ts";
import {
  INVALID_PARAMS,
  PREFLIGHT_FAILED,
  SIGNATURE_COUNT_MISMATCH,
  SIGNATURE_VERIFICATION_FAILED,
  UNSUPPORTED_TRANSACTION_VERSION,
} from "../transport/rpc-error-codes.ts";
import type { RpcRefusal } from "../transport/rpc-failure.ts";
import { parseTransactionError } from "../history/transaction-error-json.ts";

const hasErr = Schema.is(Schema.Struct({ err: Schema.Unknown }));
const hasLogs = Schema.is(Schema.Struct({ logs: Schema.Array(Schema.String) }));

const named = (kind: string): TransactionError => ({
  kind,
  instructionIndex: null,
  instructionError: null,
  customCode: null,
});

/**
 * The runtime's error behind a node's refusal of a transaction, null when there is none. A failed preflight carries the
 * error. A transaction that could not be read or verified has only a code.
 */
export const refusedTransactionError = ({ code, data }: RpcRefusal): TransactionError | null => {
  switch (code) {
    case PREFLIGHT_FAILED:
      return (hasErr(data) ? parseTransactionError(data.err) : undefined) ?? null;
    case SIGNATURE_VERIFICATION_FAILED:
      return named("SignatureFailure");
    case UNSUPPORTED_TRANSACTION_VERSION:
      return named("UnsupportedVersion");
    case SIGNATURE_COUNT_MISMATCH:
    case INVALID_PARAMS:
      return named("SanitizeFailure");
    default:
      return null;
  }
};

/** The log lines of a failed preflight, none otherwise. */
export const refusedTransactionLogs = ({ data }: RpcRefusal): ReadonlyArray<string> =>
  hasLogs(data) ? data.logs : [];

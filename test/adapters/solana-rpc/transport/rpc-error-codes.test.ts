import { expect, test } from "bun:test";
import * as kit from "@solana/kit";
import * as codes from "../../../../adapters/solana-rpc/transport/rpc-failure.ts";

test("the error codes are those that @solana/kit knows", () => {
  expect(
    [
      [
        codes.PREFLIGHT_FAILED,
        kit.SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE,
      ],
      [
        codes.SIGNATURE_VERIFICATION_FAILED,
        kit.SOLANA_ERROR__JSON_RPC__SERVER_ERROR_TRANSACTION_SIGNATURE_VERIFICATION_FAILURE,
      ],
      [codes.NODE_UNHEALTHY, kit.SOLANA_ERROR__JSON_RPC__SERVER_ERROR_NODE_UNHEALTHY],
      [
        codes.PRECOMPILE_VERIFICATION_FAILED,
        kit.SOLANA_ERROR__JSON_RPC__SERVER_ERROR_TRANSACTION_PRECOMPILE_VERIFICATION_FAILURE,
      ],
      [
        codes.KEY_EXCLUDED_FROM_INDEX,
        kit.SOLANA_ERROR__JSON_RPC__SERVER_ERROR_KEY_EXCLUDED_FROM_SECONDARY_INDEX,
      ],
      [
        codes.HISTORY_NOT_AVAILABLE,
        kit.SOLANA_ERROR__JSON_RPC__SERVER_ERROR_TRANSACTION_HISTORY_NOT_AVAILABLE,
      ],
      [codes.SCAN_FAILED, kit.SOLANA_ERROR__JSON_RPC__SCAN_ERROR],
      [
        codes.SIGNATURE_COUNT_MISMATCH,
        kit.SOLANA_ERROR__JSON_RPC__SERVER_ERROR_TRANSACTION_SIGNATURE_LEN_MISMATCH,
      ],
      [
        codes.UNSUPPORTED_TRANSACTION_VERSION,
        kit.SOLANA_ERROR__JSON_RPC__SERVER_ERROR_UNSUPPORTED_TRANSACTION_VERSION,
      ],
      [
        codes.MIN_CONTEXT_SLOT_NOT_REACHED,
        kit.SOLANA_ERROR__JSON_RPC__SERVER_ERROR_MIN_CONTEXT_SLOT_NOT_REACHED,
      ],
      [
        codes.LONG_TERM_STORAGE_UNREACHABLE,
        kit.SOLANA_ERROR__JSON_RPC__SERVER_ERROR_LONG_TERM_STORAGE_UNREACHABLE,
      ],
      [codes.METHOD_NOT_FOUND, kit.SOLANA_ERROR__JSON_RPC__METHOD_NOT_FOUND],
      [codes.INVALID_PARAMS, kit.SOLANA_ERROR__JSON_RPC__INVALID_PARAMS],
    ].filter(([ours, theirs]) => Number(ours) !== Number(theirs)),
  ).toEqual([]);
});

import { Effect } from "effect";
import type { Address } from "../../domain/address.ts";
import { encodeEscrowAccount, pendingEscrowBytes } from "../../protocol/accounts/escrow-account.ts";
import { IndexReader } from "../../../ports/index/index-reader.ts";
import { untrustworthy } from "../refuse-answer.ts";

/** The row whose events the index chains to the ledger's head. Undefined without one, and without the store. */
const provedRow = Effect.fnUntraced(function* (address: Address) {
  const index = yield* IndexReader;
  const [row] = yield* Effect.orElseSucceed(index.escrowsAt([address]), () => []);
  return row;
});

/**
 * Fails with a retryable `LedgerUnavailable` when a node shows no escrow at an address where the index proves one. The
 * ledger keeps every escrow's account, an archived one's as a tombstone. A row only vetoes; it is no answer.
 */
export const refuseDenied = Effect.fnUntraced(function* (address: Address) {
  if ((yield* provedRow(address)) !== undefined)
    return yield* untrustworthy(`no escrow at ${address}, where the index proves one`);
});

/**
 * Fails with a retryable `LedgerUnavailable` when an escrow's bytes are not those of the row that the index proves: the
 * node that shows them lies, or shows old ones. A Pending row may have been settled since. Without a row, or without the
 * store, the account alone counts.
 */
export const refuseContradicted = Effect.fnUntraced(function* (address: Address, data: Uint8Array) {
  const row = yield* provedRow(address);
  if (row === undefined) return;
  const shown = row.state === "Pending" ? pendingEscrowBytes(data) : data;
  if (shown.toHex() !== encodeEscrowAccount(row).toHex())
    return yield* untrustworthy(`the account at ${address} is not the one that the index proves`);
});

import { Effect } from "effect";
import { isRefundable } from "../../domain/escrow/escrow.ts";
import type { LedgerAccount } from "../../domain/ledger/account.ts";
import { associatedTokenAddress } from "../../protocol/addresses/addresses.ts";
import { Ledger } from "../../../ports/ledger.ts";
import type { LiveEscrow } from "./read-escrow.ts";

/**
 * The agent's associated token account, which a due refund pays; null when it does not exist. Undefined, without a
 * read, when no refund is due.
 */
export const readRefundAccount = Effect.fn("readRefundAccount")(function* ({
  escrow,
  ledgerTime,
  commitment,
}: LiveEscrow) {
  if (!isRefundable(escrow, ledgerTime)) return undefined;
  const ledger = yield* Ledger;
  const associated = associatedTokenAddress(escrow.agentOwner, escrow.mint);
  const { value } = yield* ledger.readAccounts([associated], commitment);
  const account: LedgerAccount | null = value[0] ?? null;
  return account;
});

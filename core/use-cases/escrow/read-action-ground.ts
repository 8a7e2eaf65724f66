import { Effect } from "effect";
import { isRefundable } from "../../domain/escrow/escrow.ts";
import type { LedgerAccount } from "../../domain/ledger/account.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import type { Merchant } from "../../domain/merchant/merchant.ts";
import { decodeMerchantAccount } from "../../protocol/accounts/merchant-account.ts";
import { associatedTokenAddress, merchantAddress } from "../../protocol/addresses/addresses.ts";
import type { ActionGround } from "../../protocol/instructions/next-actions.ts";
import { Instance } from "../../../ports/instance.ts";
import { Ledger } from "../../../ports/ledger/ledger.ts";
import type { LiveEscrow } from "./read-escrow.ts";

/** The merchant that an account holds, undefined where it holds none. */
export const merchantIn = (
  account: LedgerAccount | null,
  deployment: Deployment,
): Merchant | undefined => {
  const decoded = account === null ? undefined : decodeMerchantAccount(account, deployment);
  return decoded !== undefined && "value" in decoded ? decoded.value : undefined;
};

/**
 * What the next actions of an escrow depend on besides it: before it expires its merchant, who may have revoked its attestor, and
 * from then on the agent's associated token account, which a refund pays. Nothing is read for a settled escrow.
 */
export const readActionGround = Effect.fn("readActionGround")(function* ({
  escrow,
  ledgerTime,
  commitment,
}: LiveEscrow) {
  const nothing: ActionGround = {};
  if (escrow.state !== "Pending") return nothing;
  const ledger = yield* Ledger;
  const { deployment } = yield* Instance;
  const isDue = isRefundable(escrow, ledgerTime);
  const address = isDue
    ? associatedTokenAddress(escrow.agentOwner, escrow.mint)
    : merchantAddress(deployment, escrow.merchant).address;
  const { value } = yield* ledger.readAccounts([address], commitment);
  const account = value[0] ?? null;
  const ground: ActionGround = isDue
    ? { agentTokens: account }
    : { merchant: merchantIn(account, deployment) };
  return ground;
});

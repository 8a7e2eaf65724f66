import { Effect } from "effect";
import type { MerchantStatus } from "../../domain/merchant/merchant.ts";
import { listedMint } from "../../domain/supported-mint.ts";
import { decodeMerchantAccount } from "../../protocol/accounts/merchant-account.ts";
import { decodeTokenAccount } from "../../protocol/accounts/token.ts";
import { Instance } from "../../../ports/instance.ts";
import { Ledger } from "../../../ports/ledger.ts";
import type { PreparedEscrow } from "./prepare-escrow.ts";

/** Whether creating a prepared escrow would succeed, judged by the ledger's present state. */
export type EscrowPreflight = {
  /** Null when the merchant is not registered. */
  readonly merchantStatus: MerchantStatus | null;
  readonly mintSupported: boolean;
  /** Base units in the agent's associated token account, null when it has none. */
  readonly agentBalance: bigint | null;
  readonly balanceSufficient: boolean;
  /** Whether the escrow's address still holds no account with data. */
  readonly escrowAddressFree: boolean;
  /** Whether every check above passes. */
  readonly ready: boolean;
  readonly slot: bigint;
};

/** Reads what `create_escrow` will check: merchant, mint, the agent's balance and the escrow's address. */
export const preflightEscrow = Effect.fn("preflightEscrow")(function* (prepared: PreparedEscrow) {
  const ledger = yield* Ledger;
  const { deployment, supportedMints } = yield* Instance;
  const { slot, value } = yield* ledger.readAccounts(
    [prepared.merchantAccount, prepared.agentTokenAccount, prepared.escrow],
    "confirmed",
  );
  const [merchantAccount, tokenAccount, escrowAccount] = value;
  const merchant = merchantAccount
    ? decodeMerchantAccount(merchantAccount, deployment)
    : { fault: "wrong_owner" as const };
  const merchantStatus = "value" in merchant ? merchant.value.status : null;
  const token = tokenAccount ? decodeTokenAccount(tokenAccount) : undefined;
  const usable =
    token !== undefined && token.mint === prepared.mint && token.owner === prepared.agentOwner;
  const agentBalance = usable ? token.amount : null;
  const mintSupported = listedMint(supportedMints, prepared.mint) !== undefined;
  const balanceSufficient = usable && !token.frozen && token.amount >= prepared.amount;
  const escrowAddressFree = !escrowAccount || escrowAccount.data.length === 0;
  const preflight: EscrowPreflight = {
    merchantStatus,
    mintSupported,
    agentBalance,
    balanceSufficient,
    escrowAddressFree,
    ready: merchantStatus === "Active" && mintSupported && balanceSufficient && escrowAddressFree,
    slot,
  };
  return preflight;
});

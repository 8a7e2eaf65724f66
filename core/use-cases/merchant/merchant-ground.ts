import { Effect } from "effect";
import type { Address } from "../../domain/address.ts";
import type { Merchant } from "../../domain/merchant/merchant.ts";
import {
  decodeAttestorRegistryAccount,
  decodeCustodyConfigAccount,
} from "../../protocol/accounts/settings-accounts.ts";
import { decodeMerchantAccount } from "../../protocol/accounts/merchant-account.ts";
import {
  custodyConfigAddress,
  merchantAddress,
  registryAddress,
} from "../../protocol/addresses/addresses.ts";
import { CLOCK_SYSVAR, RENT_SYSVAR } from "../../protocol/addresses/well-known-addresses.ts";
import { Instance } from "../../../ports/instance.ts";
import { Ledger } from "../../../ports/ledger/ledger.ts";
import { groundOf } from "../escrow/prepare/escrow-surroundings.ts";
import type { Ground } from "../escrow/prepare/finish-call.ts";
import { ledgerTimeOf } from "../escrow/read-escrow.ts";
import { refuseEmptied } from "../escrow/refuse-contradicted.ts";
import { orAskAnother } from "../or-ask-another.ts";
import { type StateRule, WrongState } from "../request-errors.ts";

/** A wallet's merchant account and the other accounts that the attestor program reads, all at one slot. */
export type MerchantGround = Ground & {
  /** Null when the wallet is not registered. */
  readonly merchant: Merchant | null;
};

/** The failure for a merchant whose state does not allow an operation. */
export const wrongMerchantState = (
  { merchant, at }: Pick<MerchantGround, "merchant" | "at">,
  rule: StateRule,
  detail: string,
): WrongState =>
  new WrongState({
    rule,
    detail,
    state: merchant?.status ?? null,
    awaiting: null,
    nextActions: [],
    at,
  });

/**
 * Reads a wallet's merchant account and its surroundings. Fails with `WrongState` where the programs are not
 * initialised, and with `LedgerUnavailable` where the index shows that they were.
 */
export const readMerchantGround = Effect.fn("readMerchantGround")(function* (
  wallet: Address,
  payer: Address,
) {
  const ledger = yield* Ledger;
  const { deployment } = yield* Instance;
  const account = merchantAddress(deployment, wallet).address;
  const config = custodyConfigAddress(deployment).address;
  const registry = registryAddress(deployment).address;
  const { slot, value } = yield* ledger.readAccounts(
    [...new Set([account, config, registry, payer, CLOCK_SYSVAR, RENT_SYSVAR])],
    "confirmed",
  );
  const { find, rent } = yield* groundOf(value);
  const ledgerTime = yield* ledgerTimeOf(find(CLOCK_SYSVAR));
  const merchantAccount = find(account);
  const decoded =
    merchantAccount === null ? undefined : decodeMerchantAccount(merchantAccount, deployment);
  const ground: MerchantGround = {
    merchant: decoded !== undefined && "value" in decoded ? decoded.value : null,
    find,
    rent,
    at: { slot, ledgerTime },
  };
  const [configAccount, registryAccount] = [find(config), find(registry)];
  const isInitialized =
    configAccount !== null &&
    "value" in decodeCustodyConfigAccount(configAccount, deployment) &&
    registryAccount !== null &&
    "value" in decodeAttestorRegistryAccount(registryAccount, deployment);
  if (!isInitialized) yield* refuseEmptied(configAccount, slot);
  if (!isInitialized)
    return yield* wrongMerchantState(
      ground,
      "deployment_not_initialized",
      "the custody config or the attestor's registry does not exist yet",
    );
  return ground;
}, orAskAnother);

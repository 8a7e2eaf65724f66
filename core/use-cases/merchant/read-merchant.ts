import { Effect } from "effect";
import { parseAddress } from "../../domain/address.ts";
import type { Merchant } from "../../domain/merchant/merchant.ts";
import { merchantAddress } from "../../protocol/addresses/addresses.ts";
import { decodeMerchantAccount } from "../../protocol/accounts/merchant-account.ts";
import { Instance } from "../../../ports/instance.ts";
import { type Commitment, Ledger } from "../../../ports/ledger.ts";
import { addressFault, InvalidAddress, MerchantNotFound, NotAMerchant } from "../request-errors.ts";

/** A merchant as the ledger shows it at one slot. */
export type LiveMerchant = {
  readonly merchant: Merchant;
  readonly slot: bigint;
  readonly commitment: Commitment;
};

/**
 * Reads one merchant by its merchant wallet or its merchant account. Fails with `InvalidAddress`, with
 * `MerchantNotFound`, or with `NotAMerchant` when the address is another account of the programs.
 */
export const readMerchant = Effect.fn("readMerchant")(function* (
  pubkey: string,
  commitment: Commitment = "confirmed",
) {
  const address = parseAddress(pubkey);
  if (address === undefined) return yield* new InvalidAddress([addressFault("pubkey")]);
  const ledger = yield* Ledger;
  const { deployment } = yield* Instance;
  const derived = merchantAddress(deployment, address).address;
  const { slot, value } = yield* ledger.readAccounts([derived, address], commitment);
  const [ofWallet, itself] = value;
  for (const account of [ofWallet, itself]) {
    if (account === null || account === undefined) continue;
    const decoded = decodeMerchantAccount(account, deployment);
    if ("value" in decoded) {
      const live: LiveMerchant = { merchant: decoded.value, slot, commitment };
      return live;
    }
    const programs = [deployment.custodyProgram, deployment.attestorProgram];
    if (programs.includes(account.owner))
      return yield* new NotAMerchant({ address, fault: decoded.fault });
  }
  return yield* new MerchantNotFound({ address });
});

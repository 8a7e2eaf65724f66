import { Effect } from "effect";
import { parseAddress } from "../../domain/address.ts";
import type { UnixSeconds } from "../../domain/unix-time.ts";
import type { Merchant } from "../../domain/merchant/merchant.ts";
import { merchantAddress } from "../../protocol/addresses/addresses.ts";
import { decodeMerchantAccount } from "../../protocol/accounts/merchant-account.ts";
import { CLOCK_SYSVAR } from "../../protocol/addresses/well-known-addresses.ts";
import { Instance } from "../../../ports/instance.ts";
import { type Commitment, Ledger } from "../../../ports/ledger/ledger.ts";
import { ledgerTimeOf } from "../escrow/read-escrow.ts";
import { addressFault, InvalidAddress, MerchantNotFound, NotAMerchant } from "../request-errors.ts";

/** A merchant as the ledger shows it at one slot. */
export type LiveMerchant = {
  readonly merchant: Merchant;
  /** The ledger's clock at that slot. */
  readonly ledgerTime: UnixSeconds;
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
  const { slot, value } = yield* ledger.readAccounts([derived, address, CLOCK_SYSVAR], commitment);
  const [ofWallet, itself, clock = null] = value;
  for (const account of [ofWallet, itself]) {
    if (account === null || account === undefined) continue;
    const decoded = decodeMerchantAccount(account, deployment);
    if ("value" in decoded) {
      const ledgerTime = yield* ledgerTimeOf(clock);
      const live: LiveMerchant = { merchant: decoded.value, ledgerTime, slot, commitment };
      return live;
    }
    const programs = [deployment.custodyProgram, deployment.attestorProgram];
    if (programs.includes(account.owner))
      return yield* new NotAMerchant({ address, fault: decoded.fault });
  }
  return yield* new MerchantNotFound({ address });
});

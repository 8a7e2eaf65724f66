import { Effect } from "effect";
import { addressFromBytes } from "../../../domain/address.ts";
import type { Merchant } from "../../../domain/merchant/merchant.ts";
import { countSameNames, readMerchant } from "../../merchant/read-merchant.ts";
import type { StateRule } from "../../request-errors.ts";
import { type EscrowPreflight, preflightEscrow } from "./preflight-escrow.ts";
import { prepareEscrow, type PreparedEscrow, type PrepareEscrowRequest } from "./prepare-escrow.ts";

/** The terms of an escrow for whoever pays it. Only the types of its members are checked. */
export type OfferRequest = Omit<PrepareEscrowRequest, "agentOwner" | "payer" | "taskHash"> & {
  readonly taskIntent: string;
  readonly nonce: string;
};

/** An escrow that is offered to any wallet. */
export type EscrowOffer = {
  readonly terms: Omit<PreparedEscrow, "agentOwner" | "payer" | "escrow">;
  /** The merchant and how many others have its name; null when it is not registered. */
  readonly merchant: { readonly account: Merchant; readonly sameNames: number | null } | null;
  /** The first rule that would refuse every payer's escrow now; null when none does. */
  readonly blocker: EscrowPreflight["blockers"][number] | null;
};

/** Ed25519's base point (RFC 8032, section 5.1): a wallet that stands for a payer who is not known yet. */
const ANY_WALLET = addressFromBytes(Uint8Array.of(0x58, ...new Uint8Array(31).fill(0x66)));

/** The rules about the payer, and about the escrow that only the payer's address leads to. */
const OF_PAYER: ReadonlySet<StateRule> = new Set<StateRule>([
  "agent_account_missing",
  "agent_account_frozen",
  "insufficient_funds",
  "payer_cannot_pay",
  "escrow_address_taken",
  "vault_frozen",
  "signer_is_derived",
]);

/** The registered merchant of a wallet, null when there is none. */
const merchantOf = Effect.fnUntraced(function* (wallet: string) {
  const { merchant } = yield* readMerchant(wallet);
  if (merchant.wallet !== wallet) return null;
  return { account: merchant, sameNames: yield* countSameNames(merchant) };
});

/**
 * What an escrow of these terms means to whoever pays it, judged before the payer is known. Fails as `prepareEscrow`
 * does for the terms, and as a read of the ledger.
 */
export const offerEscrow = Effect.fn("offerEscrow")(function* (request: OfferRequest) {
  const terms = yield* prepareEscrow({ ...request, agentOwner: ANY_WALLET });
  const { preflight, prepared } = yield* preflightEscrow(terms).pipe(
    // Only a wanted transaction is refused.
    Effect.catchTags({ WrongState: Effect.die, ValidationFailed: Effect.die }),
  );
  const merchant = yield* merchantOf(terms.merchant).pipe(
    Effect.catchTags({
      MerchantNotFound: () => Effect.succeed(null),
      NotAMerchant: () => Effect.succeed(null),
      InvalidAddress: Effect.die,
    }),
  );
  const offer: EscrowOffer = {
    terms: prepared,
    merchant,
    blocker: preflight.blockers.find(({ rule }) => !OF_PAYER.has(rule)) ?? null,
  };
  return offer;
});

import { Effect } from "effect";
import {
  IndexReader,
  type MerchantCursor,
  type RegistryEntry,
} from "../../../ports/index/index-reader.ts";
import { Instance } from "../../../ports/instance.ts";
import { type Commitment, Ledger } from "../../../ports/ledger/ledger.ts";
import { parseAddress } from "../../domain/address.ts";
import type { Merchant, MerchantStatus } from "../../domain/merchant/merchant.ts";
import { listedMint } from "../../domain/supported-mint.ts";
import type { UnixSeconds } from "../../domain/unix-time.ts";
import { decodeMerchantAccount } from "../../protocol/accounts/merchant-account.ts";
import { merchantAddress } from "../../protocol/addresses/addresses.ts";
import { CLOCK_SYSVAR } from "../../protocol/addresses/well-known-addresses.ts";
import { ledgerTimeOf } from "../escrow/read-escrow.ts";
import { refuseUnseen } from "../escrow/refuse-contradicted.ts";
import { coverage, pageOf } from "../index/index-query.ts";
import type { Page } from "../index/recent-pages.ts";
import { orAskAnother, orTwoSayNo } from "../or-ask-another.ts";
import { addressFault, InvalidAddress, MerchantNotFound, NotAMerchant } from "../request-errors.ts";
import { LedgerPulse } from "../service/ledger-pulse.ts";

/**
 * How many other indexed merchants have a merchant's name; null before the first sync, and when the index does not
 * answer.
 */
export const countSameNames = Effect.fn("countSameNames")(function* ({ name, address }: Merchant) {
  const index = yield* IndexReader;
  const counted = Effect.gen(function* () {
    const { mark } = yield* index.summary;
    return mark === null ? null : yield* index.sameNames(name, address);
  });
  return yield* Effect.orElseSucceed(counted, () => null);
});

/** The settlement mint as this service lists it, undefined while it is not known or not listed. */
export const listedSettlementMint = Effect.gen(function* () {
  const { supportedMints } = yield* Instance;
  const mint = yield* (yield* LedgerPulse).settlementMint;
  return mint === null ? undefined : listedMint(supportedMints, mint);
});

/** A merchant as the ledger shows it at one slot. */
export type LiveMerchant = {
  readonly merchant: Merchant;
  /** The ledger's clock at that slot. */
  readonly ledgerTime: UnixSeconds;
  readonly slot: bigint;
  readonly commitment: Commitment;
};

const readOnce = Effect.fnUntraced(function* (
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
  yield* refuseUnseen(derived, ofWallet ?? null, { slot, commitment });
  return yield* new MerchantNotFound({ address });
});

/**
 * Reads one merchant by its merchant wallet or its merchant account. Fails with `InvalidAddress`, with
 * `MerchantNotFound`, which counts once two nodes have said so where two are configured, with `NotAMerchant` when the
 * address is another account of the programs, and with `LedgerUnavailable` for an answer that lacks what this relay
 * saw confirmed.
 */
export const readMerchant = Effect.fn("readMerchant")(
  readOnce,
  orTwoSayNo("MerchantNotFound"),
  orAskAnother,
);

/** The filters of the merchant registry. */
type RegistryQuery = {
  readonly status?: MerchantStatus | undefined;
  readonly text?: string | undefined;
  readonly minReputation?: number | undefined;
};

const cursorOf = ({ registeredAt, address }: Merchant): MerchantCursor => ({
  registeredAt,
  address,
});

/** A page of registered merchants with their statistics, the earliest registered first. `limit` in [1, 500]. */
export const queryMerchants = Effect.fn("queryMerchants")(function* (
  query: RegistryQuery,
  limit: number,
  after: MerchantCursor | null,
) {
  const index = yield* IndexReader;
  const covered = yield* coverage;
  const rows = yield* index.merchants(query, limit + 1, after);
  const page: Page<RegistryEntry, MerchantCursor> = {
    ...pageOf(rows, limit, ({ merchant }) => cursorOf(merchant)),
    ...covered,
  };
  return page;
});

import type { Address } from "../../domain/address.ts";
import { type Escrow, ESCROW_STATES } from "../../domain/escrow/escrow.ts";
import type { SettlementFault } from "../../domain/relay/settlement-rule.ts";
import { formatUnixTime } from "../../domain/unix-time.ts";
import { decodeArchivedEscrowAccount } from "./archived-escrow-account.ts";
import { decodeEscrowAccount } from "./escrow-account.ts";
import { CUSTODY_CONSTANTS } from "../generated/custody.ts";
import type { CustodyCall, LedgerView } from "../rules/custody-call.ts";

const [PENDING] = ESCROW_STATES;

/** How long an escrow stays whole after its settlement, in seconds. */
export const ARCHIVE_DELAY_SECONDS = BigInt(CUSTODY_CONSTANTS.ARCHIVE_DELAY_SECONDS);

/** The escrow that an instruction settles; undefined when it is not known before sending. */
export const settledEscrow = (
  call: CustodyCall,
  address: Address,
  view: LedgerView,
): Escrow | undefined | { readonly fault: SettlementFault } => {
  const account = call.found(address);
  if (account === undefined) return undefined;
  if ("value" in decodeArchivedEscrowAccount(account, view.deployment))
    return {
      fault: {
        rule: "escrow_archived",
        detail: `the escrow ${address} was settled and archived; nothing can be done with it any more`,
      },
    };
  const decoded = decodeEscrowAccount(account, view.deployment);
  if ("fault" in decoded)
    return {
      fault: {
        rule: "not_an_escrow",
        detail: `${address} is not an escrow of this deployment (${decoded.fault})`,
      },
    };
  return decoded.value;
};

/** Only a Pending escrow settles, and a settled one never changes again. */
export const pendingFault = ({ state, settledAt }: Escrow): SettlementFault | undefined =>
  state === PENDING
    ? undefined
    : {
        rule: "not_pending",
        detail: `the escrow is ${state} since ${formatUnixTime(settledAt ?? 0n)}; only a Pending one can be settled`,
      };

/** A release comes too late from the second of expiry on; the ledger's clock only goes forward. */
export const expiredFault = (
  { expiresAt }: Escrow,
  { ledgerTime }: LedgerView,
): SettlementFault | undefined =>
  ledgerTime < expiresAt
    ? undefined
    : {
        rule: "expired",
        detail: `the escrow expired at ${formatUnixTime(expiresAt)}, ${ledgerTime - expiresAt} s ago by the ledger's clock; it can only be refunded`,
      };

/** A refund is too early while expiry is further away than the allowed clock difference. */
export const notExpiredFault = (
  { expiresAt }: Escrow,
  { ledgerTime, marginSeconds }: LedgerView,
): SettlementFault | undefined =>
  ledgerTime + marginSeconds >= expiresAt
    ? undefined
    : {
        rule: "not_expired",
        detail: `the escrow expires at ${formatUnixTime(expiresAt)}, in ${expiresAt - ledgerTime} s by the ledger's clock; it can be refunded from then on`,
      };

/** A settled escrow can be archived after seven days. It is too early while that is further away than the allowed clock difference. */
export const notArchivableFault = (
  { settledAt }: Escrow,
  { ledgerTime, marginSeconds }: LedgerView,
): SettlementFault | undefined => {
  if (settledAt === null)
    return { rule: "not_settled", detail: "the escrow is Pending; only a settled one is archived" };
  const from = settledAt + ARCHIVE_DELAY_SECONDS;
  return ledgerTime + marginSeconds >= from
    ? undefined
    : {
        rule: "not_archivable",
        detail: `the escrow was settled at ${formatUnixTime(settledAt)} and can be archived from ${formatUnixTime(from)} on, in ${from - ledgerTime} s by the ledger's clock`,
      };
};

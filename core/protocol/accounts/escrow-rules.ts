import type { Address } from "../../domain/address.ts";
import { type Escrow, ESCROW_STATES } from "../../domain/escrow/escrow.ts";
import type { SettlementFault } from "../../domain/relay/settlement-rule.ts";
import { formatUnixTime } from "../../domain/unix-time.ts";
import { decodeEscrowAccount } from "./escrow-account.ts";
import type { CustodyCall, LedgerView } from "../rules/custody-call.ts";

const [PENDING] = ESCROW_STATES;

/** The escrow an instruction settles; undefined when it cannot be known beforehand. */
export const settledEscrow = (
  call: CustodyCall,
  address: Address,
  view: LedgerView,
): Escrow | undefined | { readonly fault: SettlementFault } => {
  const account = call.found(address);
  if (account === undefined) return undefined;
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

/** A refund comes too early while expiry is further away than the clock may be off. */
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

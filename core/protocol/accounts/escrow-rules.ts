import type { Address } from "../../domain/address.ts";
import { endOf, type Escrow, ESCROW_STATES } from "../../domain/escrow/escrow.ts";
import type { SettlementFault } from "../../domain/relay/settlement-rule.ts";
import { formatUnixTime } from "../../domain/unix-time.ts";
import { believedBytes, decodeArchivedEscrowAccount } from "./archived-escrow-account.ts";
import { decodeEscrowAccount, ESCROW_ACCOUNT_LENGTH } from "./escrow-account.ts";
import { CUSTODY_CONSTANTS } from "../generated/custody.ts";
import type { CustodyCall, LedgerView } from "../rules/custody-call.ts";

const [PENDING] = ESCROW_STATES;

/** How long an escrow stays whole after its settlement, in seconds. */
export const ARCHIVE_DELAY_SECONDS = BigInt(CUSTODY_CONSTANTS.ARCHIVE_DELAY_SECONDS);

/** The escrow that an instruction names, or why it cannot; undefined when it is not known before sending. */
type NamedEscrow = Escrow | undefined | { readonly fault: SettlementFault };

/** The escrow of an instruction that an archived one refuses. */
export const wholeEscrow = (call: CustodyCall, address: Address, view: LedgerView): NamedEscrow => {
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

const bytesDiffer = (detail: string) => ({
  fault: { rule: "last_bytes_differ", detail } satisfies SettlementFault,
});

/**
 * The escrow of an instruction that an archived one takes as well: a tombstone's is the one in the last bytes that the
 * instruction
 * gives, a whole one stands for itself and goes without them.
 */
export const keptEscrow = (
  call: CustodyCall,
  address: Address,
  lastBytes: Uint8Array,
  view: LedgerView,
): NamedEscrow => {
  const account = call.found(address);
  const archived = account && decodeArchivedEscrowAccount(account, view.deployment);
  if (archived === undefined || "fault" in archived) {
    if (account === undefined || lastBytes.length === 0) return wholeEscrow(call, address, view);
    return bytesDiffer(`the escrow ${address} is not archived and needs no last bytes`);
  }
  const believed = believedBytes(address, lastBytes, archived.value, view.deployment);
  return (
    believed?.escrow ??
    bytesDiffer(
      `the escrow ${address} is archived, and its tombstone's last_hash is not that of the ${lastBytes.length} bytes given; its ${ESCROW_ACCOUNT_LENGTH} last bytes are needed`,
    )
  );
};

/** Only a Pending escrow settles, and a settled one never changes again. */
export const pendingFault = ({ state, settledAt }: Escrow): SettlementFault | undefined =>
  state === PENDING
    ? undefined
    : {
        rule: "not_pending",
        detail: `the escrow is ${state} since ${formatUnixTime(settledAt ?? 0n)}; only a Pending one can be settled`,
      };

/** A payment and a cancellation come too late from the second of the end on; the ledger's clock only goes forward. */
export const expiredFault = (
  escrow: Pick<Escrow, "expiresAt" | "closesAt">,
  { ledgerTime }: LedgerView,
): SettlementFault | undefined => {
  const end = endOf(escrow);
  return ledgerTime < end
    ? undefined
    : {
        rule: "expired",
        detail: `the escrow ${escrow.closesAt === null ? "expired" : "was closed by its agent and ended"} at ${formatUnixTime(end)}, ${ledgerTime - end} s ago by the ledger's clock; it can only be refunded`,
      };
};

/** A refund is too early while the end is further away than the allowed clock difference. */
export const notExpiredFault = (
  escrow: Pick<Escrow, "expiresAt" | "closesAt">,
  { ledgerTime, marginSeconds }: LedgerView,
): SettlementFault | undefined => {
  const end = endOf(escrow);
  return ledgerTime + marginSeconds >= end
    ? undefined
    : {
        rule: "not_expired",
        detail: `the escrow ${escrow.closesAt === null ? "expires" : "is closed by its agent and ends"} at ${formatUnixTime(end)}, in ${end - ledgerTime} s by the ledger's clock; it can be refunded from then on`,
      };
};

/** Only a session is captured and closed. */
export const notSessionFault = ({ sessionKey }: Escrow): SettlementFault | undefined =>
  sessionKey === null
    ? {
        rule: "not_session",
        detail:
          "the escrow is a single payment and has no session key; only a session is captured or closed",
      }
    : undefined;

/** A session is closed once. */
export const closingFault = ({ closesAt }: Escrow): SettlementFault | undefined =>
  closesAt === null
    ? undefined
    : {
        rule: "session_closing",
        detail: `the agent closed the session before; it ends at ${formatUnixTime(closesAt)}`,
      };

/** The rent comes back from a settled escrow only. */
export const notSettledFault = ({ settledAt }: Escrow): SettlementFault | undefined =>
  settledAt === null
    ? {
        rule: "not_settled",
        detail: "the escrow is Pending; its rent comes back once it is settled",
      }
    : undefined;

/**
 * A settled escrow can be archived after seven days. It is too early while that is further away than the allowed clock
 * difference.
 */
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

import { Effect } from "effect";
import { parseAddress } from "../../domain/address.ts";
import type { Escrow } from "../../domain/escrow/escrow.ts";
import type { LedgerAccount } from "../../domain/ledger/account.ts";
import type { UnixSeconds } from "../../domain/unix-time.ts";
import { decodeClockSysvar } from "../../protocol/accounts/clock-sysvar.ts";
import { decodeEscrowAccount } from "../../protocol/accounts/escrow-account.ts";
import { CLOCK_SYSVAR, SYSTEM_PROGRAM } from "../../protocol/addresses/well-known-addresses.ts";
import { Instance } from "../../../ports/instance.ts";
import { type Commitment, Ledger, LedgerUnavailable } from "../../../ports/ledger.ts";
import { addressFault, EscrowNotFound, InvalidAddress, NotAnEscrow } from "../request-errors.ts";

/** An escrow as the ledger shows it at one slot. */
export type LiveEscrow = {
  readonly escrow: Escrow;
  readonly account: LedgerAccount;
  /** The ledger's clock at that slot. */
  readonly ledgerTime: UnixSeconds;
  readonly slot: bigint;
  readonly commitment: Commitment;
};

/** Anyone can send lamports to an address before its account is created. Such an account is no escrow yet. */
const isOnlyFunded = ({ owner, data }: LedgerAccount): boolean =>
  owner === SYSTEM_PROGRAM && data.length === 0;

/**
 * Reads one escrow and the ledger's clock at one slot. Fails with `InvalidAddress`, with `EscrowNotFound` when there is
 * no account, and with `NotAnEscrow` for any other account.
 */
export const readEscrow = Effect.fn("readEscrow")(function* (
  pda: string,
  commitment: Commitment = "confirmed",
) {
  const address = parseAddress(pda);
  if (address === undefined) return yield* new InvalidAddress([addressFault("pda")]);
  const ledger = yield* Ledger;
  const { deployment } = yield* Instance;
  const { slot, value } = yield* ledger.readAccounts([address, CLOCK_SYSVAR], commitment);
  const account = value[0] ?? null;
  if (account === null || isOnlyFunded(account)) return yield* new EscrowNotFound({ address });
  const decoded = decodeEscrowAccount(account, deployment);
  if ("fault" in decoded) return yield* new NotAnEscrow({ address, fault: decoded.fault });
  const ledgerTime = decodeClockSysvar(value[1] ?? null);
  if (ledgerTime === undefined)
    return yield* new LedgerUnavailable({ retryable: true, cause: "no clock sysvar" });
  const live: LiveEscrow = { escrow: decoded.value, account, ledgerTime, slot, commitment };
  return live;
});

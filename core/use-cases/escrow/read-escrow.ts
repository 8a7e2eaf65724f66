import { Effect } from "effect";
import { type Address, parseAddress } from "../../domain/address.ts";
import type { Escrow } from "../../domain/escrow/escrow.ts";
import type { LedgerAccount } from "../../domain/ledger/account.ts";
import type { UnixSeconds } from "../../domain/unix-time.ts";
import { decodeArchivedEscrowAccount } from "../../protocol/accounts/archived-escrow-account.ts";
import { decodeClockSysvar } from "../../protocol/accounts/clock-sysvar.ts";
import { decodeEscrowAccount } from "../../protocol/accounts/escrow-account.ts";
import { CLOCK_SYSVAR, SYSTEM_PROGRAM } from "../../protocol/addresses/well-known-addresses.ts";
import { Instance } from "../../../ports/instance.ts";
import { type Commitment, Ledger, LedgerUnavailable } from "../../../ports/ledger.ts";
import {
  addressFault,
  EscrowArchived,
  EscrowNotFound,
  InvalidAddress,
  NotAnEscrow,
} from "../request-errors.ts";

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
 * The escrow that an account holds. Fails with `EscrowNotFound` when there is none, `EscrowArchived` when it is a tombstone,
 * `NotAnEscrow` when it is another one.
 */
export const escrowOf = Effect.fnUntraced(function* (
  address: Address,
  account: LedgerAccount | null,
) {
  const { deployment } = yield* Instance;
  if (account === null || isOnlyFunded(account)) return yield* new EscrowNotFound({ address });
  const archived = decodeArchivedEscrowAccount(account, deployment);
  if ("value" in archived) return yield* new EscrowArchived({ address, tombstone: archived.value });
  const decoded = decodeEscrowAccount(account, deployment);
  if ("fault" in decoded) return yield* new NotAnEscrow({ address, fault: decoded.fault });
  return { escrow: decoded.value, account };
});

/** The time that a Clock sysvar account tells. Fails with `LedgerUnavailable` when it is none. */
export const ledgerTimeOf = (account: LedgerAccount | null) => {
  const ledgerTime = decodeClockSysvar(account);
  return ledgerTime === undefined
    ? Effect.fail(new LedgerUnavailable({ retryable: true, cause: "no clock sysvar" }))
    : Effect.succeed(ledgerTime);
};

/** Reads one escrow and the ledger's clock together. Fails with `InvalidAddress`, and as `escrowOf` does. */
export const readEscrow = Effect.fn("readEscrow")(function* (
  pda: string,
  commitment: Commitment = "confirmed",
) {
  const address = parseAddress(pda);
  if (address === undefined) return yield* new InvalidAddress([addressFault("pda")]);
  const ledger = yield* Ledger;
  const { slot, value } = yield* ledger.readAccounts([address, CLOCK_SYSVAR], commitment);
  const { escrow, account } = yield* escrowOf(address, value[0] ?? null);
  const ledgerTime = yield* ledgerTimeOf(value[1] ?? null);
  const live: LiveEscrow = { escrow, account, ledgerTime, slot, commitment };
  return live;
});

import { Data, Effect } from "effect";
import { Instance } from "../../../ports/instance.ts";
import { type Commitment, Ledger, LedgerUnavailable } from "../../../ports/ledger/ledger.ts";
import { type Address, parseAddress } from "../../domain/address.ts";
import { type Escrow, isRefundable } from "../../domain/escrow/escrow.ts";
import type { LedgerAccount } from "../../domain/ledger/account.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import type { Merchant } from "../../domain/merchant/merchant.ts";
import type { UnixSeconds } from "../../domain/unix-time.ts";
import { leavesOfEscrow, leavesOfTombstone } from "../../log/leaf/escrow-leaves.ts";
import {
  ARCHIVED_ESCROW_LENGTH,
  type ArchivedEscrow,
  decodeArchivedEscrowAccount,
} from "../../protocol/accounts/archived-escrow-account.ts";
import { decodeEscrowAccount } from "../../protocol/accounts/escrow-account.ts";
import { decodeMerchantAccount } from "../../protocol/accounts/merchant-account.ts";
import { decodeClockSysvar, decodeRentSysvar } from "../../protocol/accounts/sysvars.ts";
import {
  associatedTokenAddress,
  merchantAddress,
  vaultAddress,
} from "../../protocol/addresses/addresses.ts";
import {
  CLOCK_SYSVAR,
  RENT_SYSVAR,
  SYSTEM_PROGRAM,
} from "../../protocol/addresses/well-known-addresses.ts";
import { returnableRent } from "../../protocol/rules/lamport-rules.ts";
import type { ActionGround } from "../../protocol/instructions/next-actions.ts";
import { orAskAnother, orTwoSayNo, untrustworthy } from "../or-ask-another.ts";
import {
  addressFault,
  EscrowArchived,
  EscrowNotFound,
  InvalidAddress,
  NotAnEscrow,
} from "../request-errors.ts";
import type { ReadPlace } from "../relay/relayed-effects.ts";
import { ArchivedEscrows } from "./archived-escrows.ts";
import { holdsLeaf, refuseContradicted } from "./refuse-contradicted.ts";

/** An escrow as the ledger shows it at one slot. */
export type LiveEscrow = {
  readonly escrow: Escrow;
  /** Its account; of an archived escrow with the bytes that it had until then. */
  readonly account: LedgerAccount;
  /** What the ledger keeps of it once it is archived, null before. */
  readonly archived: ArchivedEscrow | null;
  /** The ledger's clock at that slot. */
  readonly ledgerTime: UnixSeconds;
  readonly slot: bigint;
  readonly commitment: Commitment;
  /** Other accounts of that slot, as they were asked for. */
  readonly along: ReadonlyArray<LedgerAccount | null>;
  /** Present where no node answered, and the index has it: what the account holds besides its data is not known. */
  readonly isFromIndex?: true;
};

/** Anyone can send lamports to an address before its account is created. Such an account is no escrow yet. */
const isOnlyFunded = ({ owner, data }: LedgerAccount): boolean =>
  owner === SYSTEM_PROGRAM && data.length === 0;

/**
 * The escrow that an account holds. Fails with `EscrowNotFound` when there is none, `EscrowArchived` when it is a
 * tombstone, `NotAnEscrow` when it is another one, and with `LedgerUnavailable` for an account that contradicts the
 * index, or what this relay saw confirmed.
 */
export const escrowOf = Effect.fnUntraced(function* (
  address: Address,
  account: LedgerAccount | null,
  at: ReadPlace,
) {
  const { deployment } = yield* Instance;
  const indexed = yield* refuseContradicted(address, account, at);
  if (indexed !== null && account !== null) return { escrow: indexed, account };
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

/** As `escrowOf`, but returns the escrow of a tombstone when its last bytes are known. */
const escrowOrArchived = Effect.fnUntraced(function* (
  address: Address,
  account: LedgerAccount | null,
  at: ReadPlace,
) {
  const live = yield* Effect.result(escrowOf(address, account, at));
  if (live._tag === "Success") return { ...live.success, archived: null };
  const failure = live.failure;
  if (failure._tag !== "EscrowArchived" || account === null) return yield* failure;
  const archived = failure.tombstone;
  const last = yield* (yield* ArchivedEscrows).find(address, archived);
  if (last === null) return yield* failure;
  // Bytes prove all that a tombstone says. `find` has compared one of its digests.
  const told = leavesOfTombstone(address, archived);
  if (!leavesOfEscrow(last.escrow, last.data).every((leaf) => holdsLeaf(told, leaf)))
    return yield* untrustworthy(`the tombstone at ${address} is not that of the bytes it proves`);
  return { escrow: last.escrow, account: { ...account, data: last.data }, archived };
});

const readBoth = Effect.fnUntraced(function* (
  address: Address,
  commitment: Commitment,
  others: ReadonlyArray<Address>,
) {
  const ledger = yield* Ledger;
  const addresses = [address, CLOCK_SYSVAR, ...others];
  const { slot, value } = yield* ledger.readAccounts(addresses, commitment);
  const [account = null, clock = null, ...along] = value;
  return { slot, account, clock, along };
});

/** Whether an account is a tombstone. Only a tombstone read at `finalized` counts. */
const isTombstone = (account: LedgerAccount | null, deployment: Deployment): boolean =>
  account !== null && "value" in decodeArchivedEscrowAccount(account, deployment);

const readOnce = Effect.fnUntraced(function* (
  address: Address,
  commitment: Commitment,
  others: ReadonlyArray<Address>,
) {
  const { deployment } = yield* Instance;
  const first = yield* readBoth(address, commitment, others);
  const isSure = commitment === "finalized" || !isTombstone(first.account, deployment);
  const read = isSure ? first : yield* readBoth(address, "finalized", others);
  const at: ReadPlace = { slot: read.slot, commitment: isSure ? commitment : "finalized" };
  const decoded = yield* escrowOrArchived(address, read.account, at);
  const ledgerTime = yield* ledgerTimeOf(read.clock);
  const live: LiveEscrow = { ...decoded, ...at, ledgerTime, along: read.along };
  return live;
});

/** Has two nodes say that there is no escrow, where two are configured. */
export const orTwoDeny = orTwoSayNo("EscrowNotFound", "NotAnEscrow");

/** As `readEscrow`, but takes the word of one node for an escrow that is not there, for callers that look again. */
export const findEscrow = Effect.fnUntraced(function* (
  pda: string,
  commitment: Commitment = "confirmed",
  others: ReadonlyArray<Address> = [],
) {
  const address = parseAddress(pda);
  if (address === undefined) return yield* new InvalidAddress([addressFault("pda")]);
  return yield* orAskAnother(readOnce(address, commitment, others));
});

/**
 * Reads one escrow, the ledger's clock and `others` at one slot. An archived one is read at `finalized`, with the bytes
 * that it had until then. An answer that contradicts the index is asked of another node too, if there is one. Fails with
 * `InvalidAddress`, with `EscrowArchived` when nobody kept those bytes, with `EscrowNotFound` when there is no account,
 * with `NotAnEscrow` for any other account, and with `LedgerUnavailable` for an answer that contradicts the index or
 * this relay. That there is no escrow counts once two nodes have said so, where two are configured.
 */
export const readEscrow = Effect.fnUntraced(function* (
  pda: string,
  commitment: Commitment = "confirmed",
  others: ReadonlyArray<Address> = [],
) {
  const address = parseAddress(pda);
  if (address === undefined) return yield* new InvalidAddress([addressFault("pda")]);
  return yield* orAskAnother(orTwoDeny(readOnce(address, commitment, others)));
});

/** The merchant that an account holds, undefined where it holds none. */
export const merchantIn = (
  account: LedgerAccount | null,
  deployment: Deployment,
): Merchant | undefined => {
  const decoded = account === null ? undefined : decodeMerchantAccount(account, deployment);
  return decoded !== undefined && "value" in decoded ? decoded.value : undefined;
};

/** The bytes of the account that stands at an escrow's address. */
const lengthOf = ({ account, archived }: LiveEscrow): number =>
  archived === null ? account.data.length : ARCHIVED_ESCROW_LENGTH;

/**
 * What the next actions of an escrow depend on besides it: before it ends its merchant, who may have revoked its
 * attestor; from then on its vault, and the agent's associated token account that is paid out of it; once it is settled
 * also the rent that may be returned.
 */
export const readActionGround = Effect.fnUntraced(function* (live: LiveEscrow) {
  const { escrow, ledgerTime, commitment, account, archived } = live;
  const ledger = yield* Ledger;
  const { deployment } = yield* Instance;
  if (escrow.state === "Pending" && !isRefundable(escrow, ledgerTime)) {
    const { address } = merchantAddress(deployment, escrow.merchant);
    const { value } = yield* ledger.readAccounts([address], commitment);
    const active: ActionGround = { merchant: merchantIn(value[0] ?? null, deployment) };
    return active;
  }
  const addresses = [
    vaultAddress(escrow),
    associatedTokenAddress(escrow.agentOwner, escrow.mint),
    escrow.rentPayer,
    RENT_SYSVAR,
  ];
  const { value } = yield* ledger.readAccounts(addresses, commitment);
  const [vault = null, agentTokens = null, rentPayer = null, rentSysvar = null] = value;
  const rent = decodeRentSysvar(rentSysvar);
  const held = { lamports: account.lamports, data: new Uint8Array(lengthOf(live)) };
  const ground: ActionGround = {
    vault,
    agentTokens,
    returnable: rent && returnableRent(held, rentPayer, rent),
    archived: archived === null ? undefined : account.data,
  };
  return ground;
});

/** Length of a slot in milliseconds (Agave `clock.rs`: DEFAULT_MS_PER_SLOT). */
const SLOT_MS = 400;

/** The escrow is confirmed and not finalized yet. */
export class NotFinalYet extends Data.TaggedError("NotFinalYet")<{
  readonly address: string;
  /** A confirmed slot at which the escrow exists. */
  readonly slot: bigint;
  /** The newest finalized slot. */
  readonly finalizedSlot: bigint;
  /** Whole seconds, at least 1, within which that slot is finalized at the usual pace. */
  readonly waitSeconds: number;
}> {}

/**
 * An escrow as `readEscrow` reads it at `finalized`. Fails with `NotFinalYet` exactly when the ledger shows an escrow
 * at `confirmed` and nothing at `finalized`, and otherwise as `readEscrow` does.
 */
export const readFinalizedEscrow = Effect.fn("readFinalizedEscrow")(function* (
  pda: string,
  others: ReadonlyArray<Address> = [],
) {
  return yield* findEscrow(pda, "finalized", others).pipe(
    Effect.catchTag(
      "EscrowNotFound",
      Effect.fnUntraced(function* ({ address }) {
        const { slot } = yield* readEscrow(address, "confirmed");
        const ledger = yield* Ledger;
        const { slot: finalizedSlot } = yield* ledger.tip("finalized");
        const left = slot > finalizedSlot ? Number(slot - finalizedSlot) : 0;
        const waitSeconds = Math.max(1, Math.ceil((left * SLOT_MS) / 1000));
        return yield* new NotFinalYet({ address, slot, finalizedSlot, waitSeconds });
      }),
    ),
  );
});

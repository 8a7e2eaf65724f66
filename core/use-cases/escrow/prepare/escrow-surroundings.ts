import { Effect } from "effect";
import { type Address, parseAddress } from "../../../domain/address.ts";
import type { Escrow } from "../../../domain/escrow/escrow.ts";
import type { OpenInstruction, Payout, ReadAt } from "../../../domain/escrow/prepared-call.ts";
import type { LedgerAccount } from "../../../domain/ledger/account.ts";
import { decodeRentSysvar } from "../../../protocol/accounts/sysvars.ts";
import { decodeTokenAccount } from "../../../protocol/accounts/token.ts";
import {
  associatedTokenAddress,
  custodyConfigAddress,
  merchantAddress,
  registryAddress,
} from "../../../protocol/addresses/addresses.ts";
import { CLOCK_SYSVAR, RENT_SYSVAR } from "../../../protocol/addresses/well-known-addresses.ts";
import { type ActionGround, nextActions } from "../../../protocol/instructions/next-actions.ts";
import { withPayer } from "../../../protocol/instructions/account-instructions.ts";
import { returnableRent } from "../../../protocol/rules/lamport-rules.ts";
import type { LedgerView } from "../../../protocol/rules/custody-call.ts";
import { preparedFault } from "../../../protocol/rules/settlement-check.ts";
import { Instance } from "../../../../ports/instance.ts";
import { Ledger, type LedgerFailure, LedgerUnavailable } from "../../../../ports/ledger/ledger.ts";
import { orAskAnother } from "../../or-ask-another.ts";
import {
  addressFault,
  type EscrowArchived,
  InvalidAddress,
  type StateRule,
  WrongState,
} from "../../request-errors.ts";
import type { Ground } from "./finish-call.ts";
import { ledgerDomain } from "../../service/ledger-domain.ts";
import { ArchivedEscrows } from "../archived-escrows.ts";
import { escrowOf, ledgerTimeOf, merchantIn, orTwoDeny } from "../read-escrow.ts";
import { expectedParties, hasSameParties, type Parties, RecentParties } from "./recent-parties.ts";

/** An escrow and every account that a settlement of it depends on, as the ledger shows them at one slot. */
export type Surroundings = Ground & {
  readonly escrow: Escrow;
  /** The account at the escrow's address: a tombstone once it is archived. */
  readonly account: LedgerAccount;
  /** The account's last bytes once it is archived, null before. */
  readonly lastBytes: Uint8Array | null;
  readonly vault: LedgerAccount | null;
  /** The ledger state that the rules use, with the exact clock of that slot. */
  readonly view: LedgerView;
};

/** Accounts by address, and the rent from the Rent sysvar among them. Fails when that account is missing. */
export const groundOf = (value: ReadonlyArray<LedgerAccount | null>) => {
  const byAddress = new Map(
    value.flatMap((account) => (account === null ? [] : [[account.address, account] as const])),
  );
  const find = (address: Address) => byAddress.get(address) ?? null;
  const rent = decodeRentSysvar(find(RENT_SYSVAR));
  return rent === undefined
    ? Effect.fail(new LedgerUnavailable({ retryable: true, cause: "no rent sysvar" }))
    : Effect.succeed({ find, rent });
};

/** What an operation reads of an escrow. */
type Changeable = Pick<Surroundings, "escrow" | "account" | "lastBytes">;

/** What an operation makes of an archived escrow. */
type OfArchived<E, R> = (
  failure: EscrowArchived,
  account: LedgerAccount | null,
  at: ReadAt,
) => Effect.Effect<Changeable, E, R>;

/** Most operations change an escrow, which an archived one cannot be. */
const refuseArchived: OfArchived<WrongState, never> = ({ tombstone }, _account, at) =>
  Effect.fail(
    new WrongState({
      rule: "escrow_archived",
      detail: "the escrow was settled and archived, and cannot change",
      state: tombstone.state,
      awaiting: null,
      nextActions: [],
      at,
    }),
  );

/**
 * What is left of an archived escrow is returned against its last bytes. Fails with `EscrowArchived` when nobody kept
 * them.
 */
const takeLastBytes: OfArchived<EscrowArchived | LedgerFailure, ArchivedEscrows> =
  Effect.fnUntraced(function* (failure, account) {
    const { address, tombstone } = failure;
    const last = yield* (yield* ArchivedEscrows).find(address, tombstone);
    if (last === null || account === null) return yield* failure;
    return { escrow: last.escrow, account, lastBytes: last.data };
  });

const changeableEscrowOf = <E, R>(
  address: Address,
  account: LedgerAccount | null,
  at: ReadAt,
  ofArchived: OfArchived<E, R>,
) =>
  escrowOf(address, account, { slot: at.slot, commitment: "confirmed" }).pipe(
    Effect.map((read): Changeable => ({ ...read, lastBytes: null })),
    Effect.catchTag("EscrowArchived", (failure) => ofArchived(failure, account, at)),
  );

/** The parties of an escrow as a read of it alone shows them. */
const readParties = Effect.fnUntraced(function* <E, R>(
  address: Address,
  ofArchived: OfArchived<E, R>,
) {
  const ledger = yield* Ledger;
  const { slot, value } = yield* ledger.readAccounts([address, CLOCK_SYSVAR], "confirmed");
  const [held = null, clock = null] = value;
  const at = { slot, ledgerTime: yield* ledgerTimeOf(clock) };
  const { escrow } = yield* changeableEscrowOf(address, held, at, ofArchived);
  const parties: Parties = escrow;
  return parties;
});

const readAround = <E, R>(ofArchived: OfArchived<E, R>) =>
  Effect.fnUntraced(function* (pda: string, others: ReadonlyArray<Address | null>) {
    const address = parseAddress(pda);
    if (address === undefined) return yield* new InvalidAddress([addressFault("pda")]);
    const expected = yield* expectedParties(address);
    const known = expected ?? (yield* readParties(address, ofArchived));
    const shown = yield* readAllAround(address, others, known, ofArchived);
    const surroundings =
      expected === undefined || hasSameParties(known, shown.escrow)
        ? shown
        : yield* readAllAround(address, others, shown.escrow, ofArchived);
    const { mint, agentOwner, merchant, rentPayer } = surroundings.escrow;
    (yield* RecentParties)?.set(address, { mint, agentOwner, merchant, rentPayer });
    return surroundings;
  });

/** Everything around an escrow of these parties, in one read. */
const readAllAround = Effect.fnUntraced(function* <E, R>(
  address: Address,
  others: ReadonlyArray<Address | null>,
  known: Parties,
  ofArchived: OfArchived<E, R>,
) {
  const ledger = yield* Ledger;
  const { deployment } = yield* Instance;
  const domain = yield* ledgerDomain;
  const vault = associatedTokenAddress(address, known.mint);
  const addresses = [
    address,
    vault,
    associatedTokenAddress(known.agentOwner, known.mint),
    associatedTokenAddress(known.merchant, known.mint),
    merchantAddress(deployment, known.merchant).address,
    custodyConfigAddress(deployment).address,
    registryAddress(deployment).address,
    known.rentPayer,
    known.merchant,
    CLOCK_SYSVAR,
    RENT_SYSVAR,
    ...others.filter((other) => other !== null),
  ];
  const { slot, value } = yield* ledger.readAccounts([...new Set(addresses)], "confirmed");
  const { find, rent } = yield* groundOf(value);
  const ledgerTime = yield* ledgerTimeOf(find(CLOCK_SYSVAR));
  const at = { slot, ledgerTime };
  const changeable = yield* changeableEscrowOf(address, find(address), at, ofArchived);
  const surroundings: Surroundings = {
    ...changeable,
    vault: find(vault),
    find,
    rent,
    at,
    view: { deployment, domain, account: find, ledgerTime, marginSeconds: 0n },
  };
  return surroundings;
});

/**
 * Reads an escrow with all accounts around it and `others` at one slot, after a read of the escrow alone where its parties
 * are not known. Fails with
 * `InvalidAddress`, `EscrowNotFound`, `NotAnEscrow`, for an archived escrow with `WrongState`, and with
 * `LedgerUnavailable` for an answer that contradicts the index, after another node was asked if there is one.
 */
export const readSurroundings = Effect.fn("readSurroundings")(
  readAround(refuseArchived),
  orTwoDeny,
  orAskAnother,
);

/**
 * As `readSurroundings`, but takes an archived escrow with its last bytes. Fails with `EscrowArchived` when nobody kept
 * them.
 */
export const readAnySurroundings = Effect.fn("readAnySurroundings")(
  readAround(takeLastBytes),
  orTwoDeny,
  orAskAnother,
);

/** The base units in the escrow's vault; 0 where there is none. */
export const heldIn = ({ vault }: Surroundings): bigint =>
  vault === null ? 0n : (decodeTokenAccount(vault)?.amount ?? 0n);

/** Whether the mint's freeze authority holds the vault, so that nothing leaves it. */
export const isFrozenVault = ({ vault }: Surroundings): boolean =>
  vault !== null && decodeTokenAccount(vault)?.frozen === true;

/** The failure for an escrow whose state does not allow an operation. */
export const wrongState = (
  { escrow, account, lastBytes, vault, find, rent, at, view }: Surroundings,
  rule: StateRule,
  detail: string,
): WrongState => {
  const ground: ActionGround = {
    agentTokens: find(associatedTokenAddress(escrow.agentOwner, escrow.mint)),
    merchant: merchantIn(
      find(merchantAddress(view.deployment, escrow.merchant).address),
      view.deployment,
    ),
    vault,
    returnable: returnableRent(account, find(escrow.rentPayer), rent),
    archived: lastBytes ?? undefined,
  };
  const isPayout = rule.startsWith("payout_account_");
  return new WrongState({
    rule,
    detail,
    state: escrow.state,
    awaiting: isPayout ? "payout_account" : null,
    nextActions: nextActions(escrow, at.ledgerTime, view.deployment, ground),
    at,
  });
};

/**
 * Fails with `WrongState` when the ledger would refuse the instructions at the slot that was read. `movesTokens`: out
 * of the vault.
 */
export const checkInstructions = (
  surroundings: Surroundings,
  {
    before = [],
    instructions,
    unpayable = [],
  }: {
    readonly before?: ReadonlyArray<OpenInstruction>;
    readonly instructions: ReadonlyArray<OpenInstruction>;
    readonly unpayable?: ReadonlyArray<Payout>;
  },
  payer: Address | null,
  movesTokens: boolean,
) =>
  Effect.suspend(() => {
    const { escrow, view } = surroundings;
    const sender = payer ?? escrow.rentPayer;
    const calls = withPayer([...before, ...instructions], sender);
    const fault = preparedFault(calls, sender, view);
    if (fault !== undefined) return Effect.fail(wrongState(surroundings, fault.rule, fault.detail));
    const [unpaid] = unpayable;
    // The relay accepts a fallback account that does not exist yet. Here it must exist now.
    if (unpaid !== undefined)
      return Effect.fail(
        wrongState(
          surroundings,
          "payout_account_unusable",
          `the ${unpaid.whose}'s associated account ${unpaid.account} is frozen or has another owner, and the request names no other account of the ${unpaid.whose} that can receive tokens`,
        ),
      );
    return movesTokens && isFrozenVault(surroundings)
      ? Effect.fail(
          wrongState(
            surroundings,
            "vault_frozen",
            "the mint's freeze authority has frozen the escrow's vault, and nothing can leave it until that authority thaws it",
          ),
        )
      : Effect.void;
  });

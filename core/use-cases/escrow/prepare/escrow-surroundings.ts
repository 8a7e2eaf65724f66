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
import { nextActions } from "../../../protocol/instructions/next-actions.ts";
import { withPayer } from "../../../protocol/instructions/account-instructions.ts";
import type { LedgerView } from "../../../protocol/rules/custody-call.ts";
import { preparedFault } from "../../../protocol/rules/settlement-check.ts";
import { Instance } from "../../../../ports/instance.ts";
import { Ledger, LedgerUnavailable } from "../../../../ports/ledger/ledger.ts";
import { orAskAnother } from "../../or-ask-another.ts";
import { addressFault, InvalidAddress, type StateRule, WrongState } from "../../request-errors.ts";
import type { Ground } from "./finish-call.ts";
import { ledgerDomain } from "../../service/ledger-domain.ts";
import { escrowOf, ledgerTimeOf, merchantIn } from "../read-escrow.ts";

/** An escrow and every account that a settlement of it depends on, as the ledger shows them at one slot. */
export type Surroundings = Ground & {
  readonly escrow: Escrow;
  readonly account: LedgerAccount;
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

/** As `escrowOf`. Fails with `WrongState` for an archived escrow, because it cannot change. */
const changeableEscrowOf = (address: Address, account: LedgerAccount | null, at: ReadAt) =>
  escrowOf(address, account).pipe(
    Effect.catchTag("EscrowArchived", ({ tombstone }) =>
      Effect.fail(
        new WrongState({
          rule: "escrow_archived",
          detail: "the escrow was settled and archived, and cannot change",
          state: tombstone.state,
          awaiting: null,
          nextActions: [],
          at,
        }),
      ),
    ),
  );

const readChangeableEscrow = Effect.fnUntraced(function* (pda: string) {
  const address = parseAddress(pda);
  if (address === undefined) return yield* new InvalidAddress([addressFault("pda")]);
  const ledger = yield* Ledger;
  const { slot, value } = yield* ledger.readAccounts([address, CLOCK_SYSVAR], "confirmed");
  const ledgerTime = yield* ledgerTimeOf(value[1] ?? null);
  return (yield* changeableEscrowOf(address, value[0] ?? null, { slot, ledgerTime })).escrow;
});

/**
 * Reads an escrow, then reads it again with all accounts around it and `others` at one slot. Fails with
 * `InvalidAddress`, `EscrowNotFound`, `NotAnEscrow`, for an archived escrow with `WrongState`, and with
 * `LedgerUnavailable` for an answer that contradicts the index, after another node was asked if there is one.
 */
export const readSurroundings = Effect.fn("readSurroundings")(function* (
  pda: string,
  others: ReadonlyArray<Address | null>,
) {
  const ledger = yield* Ledger;
  const { deployment } = yield* Instance;
  const domain = yield* ledgerDomain;
  // Its parties never change, so the first read tells which accounts the second needs.
  const firstRead = yield* readChangeableEscrow(pda);
  const vault = associatedTokenAddress(firstRead.address, firstRead.mint);
  const addresses = [
    firstRead.address,
    vault,
    associatedTokenAddress(firstRead.agentOwner, firstRead.mint),
    associatedTokenAddress(firstRead.merchant, firstRead.mint),
    merchantAddress(deployment, firstRead.merchant).address,
    custodyConfigAddress(deployment).address,
    registryAddress(deployment).address,
    firstRead.rentPayer,
    firstRead.merchant,
    CLOCK_SYSVAR,
    RENT_SYSVAR,
    ...others.filter((address) => address !== null),
  ];
  const { slot, value } = yield* ledger.readAccounts([...new Set(addresses)], "confirmed");
  const { find, rent } = yield* groundOf(value);
  const ledgerTime = yield* ledgerTimeOf(find(CLOCK_SYSVAR));
  const at = { slot, ledgerTime };
  const { escrow, account } = yield* changeableEscrowOf(
    firstRead.address,
    find(firstRead.address),
    at,
  );
  const surroundings: Surroundings = {
    escrow,
    account,
    vault: find(vault),
    find,
    rent,
    at,
    view: { deployment, domain, account: find, ledgerTime, marginSeconds: 0n },
  };
  return surroundings;
}, orAskAnother);

/** The failure for an escrow whose state does not allow an operation. */
export const wrongState = (
  { escrow, find, at, view }: Surroundings,
  rule: StateRule,
  detail: string,
): WrongState => {
  const agentTokens = find(associatedTokenAddress(escrow.agentOwner, escrow.mint));
  const merchant = merchantIn(
    find(merchantAddress(view.deployment, escrow.merchant).address),
    view.deployment,
  );
  const isPayout = rule.startsWith("payout_account_");
  return new WrongState({
    rule,
    detail,
    state: escrow.state,
    awaiting: isPayout ? "payout_account" : null,
    nextActions: nextActions(escrow, at.ledgerTime, view.deployment, { agentTokens, merchant }),
    at,
  });
};

/** Fails with `WrongState` when the ledger would refuse the instructions at the slot that was read. */
export const checkInstructions = (
  surroundings: Surroundings,
  {
    instructions,
    unpayable = [],
  }: {
    readonly instructions: ReadonlyArray<OpenInstruction>;
    readonly unpayable?: ReadonlyArray<Payout>;
  },
  payer: Address | null,
) =>
  Effect.suspend(() => {
    const { escrow, vault, view } = surroundings;
    const sender = payer ?? escrow.rentPayer;
    const fault = preparedFault(withPayer(instructions, sender), sender, view);
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
    const isFrozen = vault !== null && decodeTokenAccount(vault)?.frozen === true;
    return escrow.state === "Pending" && isFrozen
      ? Effect.fail(
          wrongState(
            surroundings,
            "vault_frozen",
            "the mint's freeze authority has frozen the escrow's vault, and nothing can leave it until that authority thaws it",
          ),
        )
      : Effect.void;
  });

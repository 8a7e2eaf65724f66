import { Duration, Effect } from "effect";
import type { Address } from "../../domain/address.ts";
import { RELAY_POLICY } from "../../domain/relay/relay-policy.ts";
import type { LedgerAccount } from "../../domain/ledger/account.ts";
import type { SettlementRule } from "../../domain/relay/settlement-rule.ts";
import { decodeAddressTable, resolveAccounts } from "../../protocol/transaction/address-table.ts";
import { readCalls } from "../../protocol/instructions/program-call.ts";
import { decodeClockSysvar } from "../../protocol/accounts/sysvars.ts";
import { attestorKeyFault } from "../../protocol/rules/attestation-rules.ts";
import { settlementFault } from "../../protocol/rules/settlement-check.ts";
import { custodyConfigAddress } from "../../protocol/addresses/addresses.ts";
import { CLOCK_SYSVAR } from "../../protocol/addresses/well-known-addresses.ts";
import type { WireTransaction } from "../../protocol/transaction/wire-transaction.ts";
import { Instance } from "../../../ports/instance.ts";
import { Ledger } from "../../../ports/ledger/ledger.ts";
import { refuseContradicted, refuseEmptied } from "../escrow/refuse-contradicted.ts";
import { ledgerDomain } from "../service/ledger-domain.ts";
import { orAskAnother } from "../or-ask-another.ts";
import { LookupTableNotAllowed, SettlementCheckFailed } from "./relay-errors.ts";

/** Faults that another pending transaction may remove. They are checked a second time before a refusal. */
const CURABLE: ReadonlySet<SettlementRule> = new Set([
  "merchant_unregistered",
  "merchant_suspended",
  "payout_account_wrong_owner",
  "payout_account_wrong_mint",
  "payout_account_shared",
  "payout_account_unusable",
  "attestor_changed",
]);

/** The most accounts the Ledger port reads at once. */
const MAX_READ = 100;

/** Every account of a transaction, including those from its address tables. */
export const resolveTables = Effect.fnUntraced(function* (transaction: WireTransaction) {
  const { signature, tables } = transaction;
  const addresses = [...new Set(tables.map(({ table }) => table))];
  const ledger = yield* Ledger;
  const tableEntries = new Map<Address, ReadonlyArray<Address>>();
  if (addresses.length > 0) {
    const { value } = yield* ledger.readAccounts(addresses, "confirmed");
    for (const account of value) {
      const entries = account === null ? undefined : decodeAddressTable(account);
      if (account !== null && entries !== undefined) tableEntries.set(account.address, entries);
    }
  }
  const accounts = resolveAccounts(transaction, tableEntries);
  if (!("fault" in accounts)) return accounts;
  const detail =
    accounts.fault === "no_table"
      ? `there is no address table at ${accounts.table}`
      : `the address table ${accounts.table} has no entry at an index that the transaction uses`;
  return yield* new LookupTableNotAllowed({ signature, detail });
});

type Accounts = Effect.Success<ReturnType<typeof resolveTables>>;

/** The confirmed accounts that a transaction is judged by, as one node shows them in one read. */
export type RelayGround = {
  readonly account: (address: Address) => LedgerAccount | null;
  /** The first fault of the custody program's instructions by these accounts, undefined without one. */
  readonly fault: ReturnType<typeof settlementFault>;
};

/**
 * What a node shows of the accounts that the custody program's instructions name, and of `others`. Another node is
 * asked when they contradict the index or this relay. Fails with a retryable `LedgerUnavailable` when every node that
 * was asked does.
 */
export const readGround = Effect.fnUntraced(function* (
  transaction: WireTransaction,
  accounts: Accounts,
  others: ReadonlyArray<Address>,
) {
  const ledger = yield* Ledger;
  const { deployment } = yield* Instance;
  const ours = transaction.instructions.filter(
    ({ program }) => program === deployment.custodyProgram,
  );
  const named = new Set(ours.flatMap(({ accounts: places }) => places));
  const addresses = [...named].flatMap((place) => accounts.addresses[place] ?? []);
  const wanted = [...new Set([CLOCK_SYSVAR, ...addresses, ...others])];
  const reads = Array.from({ length: Math.ceil(wanted.length / MAX_READ) }, (_, i) =>
    ledger.readAccounts(wanted.slice(i * MAX_READ, (i + 1) * MAX_READ), "confirmed"),
  );
  const answers = yield* Effect.all(reads);
  const value = answers.flatMap((read) => read.value);
  const slot = answers[0]?.slot ?? 0n;
  const byAddress = new Map(value.flatMap((each) => (each === null ? [] : [[each.address, each]])));
  const escrows = readCalls(transaction.instructions, accounts.addresses, deployment).map((read) =>
    read?.program !== "custody" || read.name === "initialize_custody"
      ? undefined
      : read.at("escrow"),
  );
  for (const escrow of new Set(escrows))
    if (escrow !== undefined) {
      yield* Effect.annotateCurrentSpan({ escrow });
      yield* refuseContradicted(escrow, byAddress.get(escrow) ?? null, {
        slot,
        commitment: "confirmed",
      });
    }
  const config = custodyConfigAddress(deployment).address;
  const isConfigRead = addresses.includes(config);
  if (isConfigRead && !byAddress.has(config)) yield* refuseEmptied(null, slot);
  const account = (address: Address) => byAddress.get(address) ?? null;
  const ledgerTime = decodeClockSysvar(value[0] ?? null);
  const ground: RelayGround = { account, fault: undefined };
  // Without the ledger's clock the rules cannot be judged. The simulation decides.
  if (ours.length === 0 || ledgerTime === undefined) return ground;
  const fault = settlementFault(transaction, accounts, {
    deployment,
    domain: yield* ledgerDomain,
    ledgerTime,
    marginSeconds: RELAY_POLICY.clockMarginSeconds,
    account,
  });
  if (fault !== undefined && isConfigRead) yield* refuseEmptied(account(config), slot);
  return { ...ground, fault };
}, orAskAnother);

/**
 * Fails with `SettlementCheckFailed` when an instruction of the custody program cannot succeed on the
 * ledger as it stands, or an attestor key could never be used, naming the rule. A fault that another pending
 * transaction could remove is checked twice, by a second read. Fails as `readGround` does. See docs/relay.md.
 */
export const checkSettlement = Effect.fn("checkSettlement")(function* (
  transaction: WireTransaction,
  accounts: Accounts,
  ground: RelayGround,
) {
  const { deployment } = yield* Instance;
  const unusable = attestorKeyFault(transaction, deployment);
  if (unusable !== undefined)
    return yield* new SettlementCheckFailed({ signature: transaction.signature, ...unusable });
  let { fault } = ground;
  if (fault !== undefined && CURABLE.has(fault.rule)) {
    yield* Effect.sleep(Duration.millis(RELAY_POLICY.secondLookMs));
    fault = (yield* readGround(transaction, accounts, [])).fault;
  }
  if (fault !== undefined)
    return yield* new SettlementCheckFailed({ signature: transaction.signature, ...fault });
});

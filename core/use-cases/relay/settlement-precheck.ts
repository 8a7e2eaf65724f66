import { Duration, Effect } from "effect";
import type { Address } from "../../domain/address.ts";
import { RELAY_POLICY } from "../../domain/relay/relay-policy.ts";
import type { LedgerAccount } from "../../domain/ledger/account.ts";
import type { UnixSeconds } from "../../domain/unix-time.ts";
import type { SettlementRule } from "../../domain/relay/settlement-rule.ts";
import { decodeAddressTable, resolveAccounts } from "../../protocol/transaction/address-table.ts";
import { readCalls } from "../../protocol/instructions/program-call.ts";
import { decodeClockSysvar } from "../../protocol/accounts/sysvars.ts";
import { attestorKeyFault } from "../../protocol/rules/attestation-rules.ts";
import { settlementFault } from "../../protocol/rules/settlement-check.ts";
import { CLOCK_SYSVAR } from "../../protocol/addresses/well-known-addresses.ts";
import type { WireTransaction } from "../../protocol/transaction/wire-transaction.ts";
import { Instance } from "../../../ports/instance.ts";
import { Ledger } from "../../../ports/ledger/ledger.ts";
import { refuseContradicted } from "../escrow/refuse-contradicted.ts";
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
  /** The ledger's clock at that read, undefined where it is missing. */
  readonly ledgerTime: UnixSeconds | undefined;
};

/**
 * What a node shows of the accounts that the custody program's instructions name, and of `others`. Another node is
 * asked when its accounts of escrows contradict the index. Fails with a retryable `LedgerUnavailable` when every node
 * that was asked does.
 */
export const readGround = Effect.fnUntraced(function* (
  transaction: WireTransaction,
  accounts: Accounts,
  others: ReadonlyArray<Address>,
) {
  const ledger = yield* Ledger;
  const { deployment } = yield* Instance;
  const named = transaction.instructions.flatMap(({ program, accounts: places }) =>
    program === deployment.custodyProgram ? places : [],
  );
  const addresses = [...new Set(named)].flatMap((place) => accounts.addresses[place] ?? []);
  const wanted = [...new Set([CLOCK_SYSVAR, ...addresses, ...others])];
  const reads = Array.from({ length: Math.ceil(wanted.length / MAX_READ) }, (_, i) =>
    ledger.readAccounts(wanted.slice(i * MAX_READ, (i + 1) * MAX_READ), "confirmed"),
  );
  const value = (yield* Effect.all(reads)).flatMap((read) => read.value);
  const byAddress = new Map(value.flatMap((each) => (each === null ? [] : [[each.address, each]])));
  const escrows = readCalls(transaction.instructions, accounts.addresses, deployment).map((read) =>
    read?.program !== "custody" || read.name === "initialize_custody"
      ? undefined
      : read.at("escrow"),
  );
  for (const escrow of new Set(escrows))
    if (escrow !== undefined) yield* refuseContradicted(escrow, byAddress.get(escrow) ?? null);
  const ground: RelayGround = {
    account: (address) => byAddress.get(address) ?? null,
    ledgerTime: decodeClockSysvar(value[0] ?? null),
  };
  return ground;
}, orAskAnother);

/** The first fault by these accounts, undefined without one. */
const judge = Effect.fnUntraced(function* (
  transaction: WireTransaction,
  accounts: Accounts,
  { account, ledgerTime }: RelayGround,
) {
  // Without the ledger's clock the rules cannot be judged. The simulation decides.
  if (ledgerTime === undefined) return undefined;
  const { deployment } = yield* Instance;
  return settlementFault(transaction, accounts, {
    deployment,
    domain: yield* ledgerDomain,
    ledgerTime,
    marginSeconds: RELAY_POLICY.clockMarginSeconds,
    account,
  });
});

/**
 * Fails with `SettlementCheckFailed` when an instruction of the custody program cannot succeed on the
 * ledger as it stands, or an attestor key could never be used, naming the rule. A fault that another pending
 * transaction could remove is checked twice, by a second read. Fails with a retryable `LedgerUnavailable` when every node that was asked
 * contradicts what the index proves of an escrow. See docs/protocol.md, "Relay".
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
  if (!transaction.instructions.some(({ program }) => program === deployment.custodyProgram))
    return;
  let fault = yield* judge(transaction, accounts, ground);
  if (fault !== undefined && CURABLE.has(fault.rule)) {
    yield* Effect.sleep(Duration.millis(RELAY_POLICY.secondLookMs));
    fault = yield* judge(transaction, accounts, yield* readGround(transaction, accounts, []));
  }
  if (fault !== undefined)
    return yield* new SettlementCheckFailed({ signature: transaction.signature, ...fault });
});

import {
  Account,
  EpochSchedule,
  FailedTransactionMetadata,
  LiteSvm,
  type SimulatedTransactionInfo,
  type TransactionMetadata,
} from "litesvm/dist/internal.js";
import {
  address,
  type Address,
  addressFromBytes,
  addressToBytes,
} from "../../../core/domain/address.ts";
import type { WireTransaction } from "../../../core/protocol/transaction/wire-transaction.ts";
import type { AccountState } from "./accounts/account-store.ts";
import { SLOTS_PER_EPOCH } from "./time/slots.ts";
import {
  type TransactionErrorJson,
  transactionErrorJson,
} from "./transactions/transaction-error.ts";

/** The result of running a transaction. `error` is undefined when it succeeded. */
export type Execution = {
  readonly error: TransactionErrorJson | undefined;
  readonly metadata: TransactionMetadata;
};

/** The owners of the accounts that a new virtual machine contains (LiteSVM `spl.rs`, `builtin.rs`). */
const BUILT_IN_OWNERS = [
  "NativeLoader1111111111111111111111111111111",
  "BPFLoader1111111111111111111111111111111111",
  "BPFLoader2111111111111111111111111111111111",
  "BPFLoaderUpgradeab1e11111111111111111111111",
  "Sysvar1111111111111111111111111111111111111",
  "Config1111111111111111111111111111111111111",
  "Feature111111111111111111111111111111111111",
] as ReadonlyArray<string> as ReadonlyArray<Address>;

/**
 * The data of these programs' accounts on a cluster: their name (Agave `builtins/src/lib.rs`). LiteSVM uses other
 * names.
 */
const BUILT_IN_NAMES: ReadonlyArray<readonly [program: string, name: string]> = [
  ["11111111111111111111111111111111", "system_program"],
  ["Vote111111111111111111111111111111111111111", "vote_program"],
  ["BPFLoader1111111111111111111111111111111111", "solana_bpf_loader_deprecated_program"],
];

const stateOf = (account: Account): AccountState => ({
  lamports: account.lamports(),
  owner: addressFromBytes(account.owner()),
  data: account.data(),
  executable: account.executable(),
  rentEpoch: account.rentEpoch(),
});

/**
 * LiteSVM without the checks that this ledger makes itself: LiteSVM keeps one blockhash instead of 150, and its replay
 * guard forgets. Uses the native class, because the package's wrapper encodes base58 at every call (15 us against 1 us
 * for a read). A panic in it ends the process, so only sanitized transactions may reach it.
 */
export const createVirtualMachine = () => {
  const vm = new LiteSvm();
  vm.setBlockhashCheck(false);
  vm.setTransactionHistory(0n);
  vm.setEpochSchedule(
    new EpochSchedule(BigInt(SLOTS_PER_EPOCH), BigInt(SLOTS_PER_EPOCH), false, 0n, 0n),
  );
  for (const [program, name] of BUILT_IN_NAMES) {
    const account = vm.getAccount(addressToBytes(address(program)));
    if (account === null) throw new Error(`the virtual machine has no program ${program}`);
    vm.setAccount(
      addressToBytes(address(program)),
      new Account(
        account.lamports(),
        new TextEncoder().encode(name),
        account.owner(),
        account.executable(),
        account.rentEpoch(),
      ),
    );
  }
  const builtIn = new Map(
    BUILT_IN_OWNERS.map((owner) => [
      owner,
      vm
        .getProgramAccounts(addressToBytes(owner))
        .map((account) => addressFromBytes(account.address)),
    ]),
  );

  const writeRaw = (address: Uint8Array, owner: Uint8Array, state: Omit<AccountState, "owner">) =>
    vm.setAccount(
      address,
      new Account(state.lamports, state.data, owner, state.executable, state.rentEpoch),
    );

  /**
   * LiteSVM has one error for a missing program and for an account that is not a program. Agave has two, and reports
   * that of the first such instruction (`svm/src/account_loader.rs`: `load_transaction_accounts`).
   */
  const programError = ({ instructions }: WireTransaction): string => {
    for (const { program } of instructions) {
      const account = vm.getAccount(addressToBytes(program));
      if (account === null) return "ProgramAccountNotFound";
      if (!account.executable()) break;
    }
    return "InvalidProgramForExecution";
  };

  const execution = (
    transaction: WireTransaction,
    result: TransactionMetadata | SimulatedTransactionInfo | FailedTransactionMetadata,
  ): Execution => {
    if (!(result instanceof FailedTransactionMetadata))
      return { error: undefined, metadata: "meta" in result ? result.meta() : result };
    const error = transactionErrorJson(result);
    return {
      error: error === "InvalidProgramForExecution" ? programError(transaction) : error,
      metadata: result.meta(),
    };
  };

  return {
    /** The account, undefined when there is none. */
    read: (address: Address): AccountState | undefined => {
      const account = vm.getAccount(addressToBytes(address));
      return account === null ? undefined : stateOf(account);
    },
    /** Lamports of an account, 0 when there is none. Does not copy the data, which is 100 KB for a program. */
    balance: (address: Address): bigint => vm.getBalance(addressToBytes(address)) ?? 0n,
    /** Sets an account, or removes it when the state is undefined. */
    write: (address: Address, state: AccountState | undefined): void =>
      state === undefined
        ? writeRaw(addressToBytes(address), new Uint8Array(32), {
            lamports: 0n,
            data: new Uint8Array(),
            executable: false,
            rentEpoch: 0n,
          })
        : writeRaw(addressToBytes(address), addressToBytes(state.owner), state),
    /** Sets an account whose address and owner are given as 32 bytes each. */
    writeRaw,
    /** Addresses of this owner's accounts that the virtual machine contains from its start. */
    builtInAccounts: (owner: Address): ReadonlyArray<Address> => builtIn.get(owner) ?? [],
    minimumBalance: (dataLength: number): bigint =>
      vm.minimumBalanceForRentExemption(BigInt(dataLength)),
    execute: (transaction: WireTransaction): Execution =>
      execution(transaction, vm.sendVersionedTransaction(transaction.bytes)),
    /** Runs a transaction without keeping its effects. `after` is what the accounts it names would become. */
    simulate: (
      transaction: WireTransaction,
      checkSignatures: boolean,
    ): Execution & { readonly after: ReadonlyMap<Address, AccountState> } => {
      vm.setSigverify(checkSignatures);
      const result = vm.simulateVersionedTransaction(transaction.bytes);
      vm.setSigverify(true);
      const accounts = "postAccounts" in result ? result.postAccounts() : [];
      return {
        ...execution(transaction, result),
        after: new Map(accounts.map((a) => [addressFromBytes(a.address), stateOf(a.account())])),
      };
    },
  };
};

/** See `createVirtualMachine`. */
export type VirtualMachine = ReturnType<typeof createVirtualMachine>;

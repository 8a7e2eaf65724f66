import type { Address } from "../../domain/address.ts";
import type { Hash32 } from "../../domain/hash32.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import type { LedgerAccount } from "../../domain/ledger/account.ts";
import type { SettlementFault } from "../../domain/relay/settlement-rule.ts";
import type { UnixSeconds } from "../../domain/unix-time.ts";
import type { TransactionAccounts } from "../transaction/address-table.ts";
import { SYSTEM_PROGRAM } from "../addresses/well-known-addresses.ts";
import type { InstructionLayout } from "../instructions/instruction-layout.ts";
import type { WireInstruction, WireMessage } from "../transaction/wire-transaction.ts";

/** The ledger state that the rules use: accounts, clock, and how far that clock may be off. */
export type LedgerView = {
  readonly deployment: Deployment;
  /** The ledger and its custody program, by `domainOf` from the genesis hash that the service knows. */
  readonly domain: Hash32;
  /** Null where the ledger has no such account. */
  readonly account: (address: Address) => LedgerAccount | null;
  readonly ledgerTime: UnixSeconds;
  readonly marginSeconds: bigint;
};

/** One custody instruction of a transaction, with the parts of the transaction that the rules need. */
export type CustodyCall = {
  readonly index: number;
  readonly data: Uint8Array;
  readonly accounts: ReadonlyArray<Address>;
  readonly instructions: ReadonlyArray<WireInstruction>;
  /**
   * The account as the instruction will find it, or undefined when that is not known: an earlier
   * instruction of the transaction may write it, or the ledger shows nothing there yet.
   */
  readonly found: (address: Address) => LedgerAccount | undefined;
  /** Whether an earlier instruction of the transaction may write the account. */
  readonly isTouched: (address: Address) => boolean;
};

/** Whether there is nothing at the address, or only lamports: any program can still make an account there. */
export const isVacant = (account: LedgerAccount | null): boolean =>
  account === null || (account.owner === SYSTEM_PROGRAM && account.data.length === 0);

/** The calls of the custody program in a transaction, in order. */
export const custodyCalls = (
  { instructions }: WireMessage,
  { addresses, isWritable }: TransactionAccounts,
  view: LedgerView,
): ReadonlyArray<CustodyCall> => {
  const touched = new Set<Address>();
  const calls: Array<CustodyCall> = [];
  for (const [index, { program, accounts, data }] of instructions.entries()) {
    const named = accounts.flatMap((place) => addresses[place] ?? []);
    if (program === view.deployment.custodyProgram) {
      const before = new Set(touched);
      const isTouched = (address: Address) => before.has(address);
      const found = (address: Address) => {
        const account = view.account(address);
        return account === null || isVacant(account) || isTouched(address) ? undefined : account;
      };
      calls.push({ index, data, accounts: named, instructions, found, isTouched });
    }
    for (const place of accounts) {
      const address = addresses[place];
      if (address !== undefined && isWritable(place)) touched.add(address);
    }
  }
  return calls;
};

/** The accounts of an instruction by the IDL's names, and the place of each. */
export type Places = InstructionLayout["accounts"];

/**
 * The fault of the first account that differs from the expected one. `expected` has the names of the instruction's
 * accounts.
 */
export const wrongAccount = <All extends Places>(
  call: CustodyCall,
  places: All,
  expected: { readonly [Name in keyof All]?: Address },
): SettlementFault | undefined => {
  for (const [name, address] of Object.entries<Address | undefined>(expected)) {
    const place = places[name]?.place;
    if (place === undefined || address === undefined) continue;
    const actual = call.accounts[place];
    if (actual !== address)
      return {
        rule: "wrong_account",
        detail: `account ${place}, ${name}, is ${actual ?? "missing"} and must be ${address}`,
      };
  }
  return undefined;
};

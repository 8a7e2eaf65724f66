import type { Address } from "../../../core/domain/address.ts";
import {
  INSTRUCTIONS_SYSVAR,
  SYSTEM_PROGRAM,
} from "../../../core/protocol/addresses/well-known-addresses.ts";
import {
  ATTESTOR,
  type Call,
  CUSTODY,
  LAYOUTS,
  programOf,
  type Sent,
  type Verdict,
} from "./call.ts";
import { PROGRAMS } from "./world.ts";

/** More accounts than this are refused. */
const MOST_ACCOUNTS = 32;
/**
 * Of the addresses that the model uses, those that the runtime never lets a transaction write (Agave
 * `reserved-account-keys`).
 */
const RESERVED: ReadonlySet<Address> = new Set([SYSTEM_PROGRAM, INSTRUCTIONS_SYSVAR]);

/**
 * What a transaction may do with an account: the union of what its instructions ask for (Agave `sanitized.rs`,
 * is_writable).
 */
export type Privileges = {
  readonly signs: (address: Address) => boolean;
  readonly writes: (address: Address) => boolean;
};

/** The privileges of every account in a transaction. */
export const privilegesOf = (sent: Sent): Privileges => {
  const signs = new Set<Address>();
  const writes = new Set<Address>();
  const called = new Set<Address>();
  for (const { sent: instruction } of sent) {
    called.add(instruction.programAddress);
    for (const { address, role } of instruction.accounts) {
      if (role >= 2) signs.add(address);
      if (role % 2 === 1) writes.add(address);
    }
  }
  return {
    signs: (address) => signs.has(address),
    writes: (address) => writes.has(address) && !called.has(address) && !RESERVED.has(address),
  };
};

/** The account that the IDL calls `name`. */
export type At = (name: string) => Address;

/** Finds a call's accounts by name. @throws Error for a name that the instruction does not have. */
export const placesOf = ({ name, sent }: Call): At => {
  const { accounts } = LAYOUTS[name];
  return (place) => {
    const meta = sent.accounts[accounts[place]?.place ?? -1];
    if (meta === undefined) throw new Error(`${name} has no account ${place}`);
    return meta.address;
  };
};

/** The checks that every instruction makes first: data length, number of accounts, signatures, writable accounts. */
export const requireShape = (verdict: Verdict, call: Call, privileges: Privileges): boolean => {
  const codes = programOf(call.name) === PROGRAMS.custodyProgram ? CUSTODY : ATTESTOR;
  const { accounts } = LAYOUTS[call.name];
  const given = call.sent.accounts;
  verdict.require(!call.garbled, codes.InvalidInstruction);
  verdict.require(given.length <= MOST_ACCOUNTS, codes.TooManyAccounts);
  for (const { place, role, optional } of Object.values(accounts)) {
    const meta = given[place];
    if (!verdict.require(meta !== undefined, codes.MissingAccount) || meta === undefined) continue;
    if (role === "readonlySigner" || role === "writableSigner")
      verdict.require(privileges.signs(meta.address), codes.MissingSignature);
    if ((role === "writable" || role === "writableSigner") && optional !== true)
      verdict.require(privileges.writes(meta.address), codes.AccountNotWritable);
  }
  return verdict.accepted;
};

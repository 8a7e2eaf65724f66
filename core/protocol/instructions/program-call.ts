import type { Address } from "../../domain/address.ts";
import type { Instruction } from "../../domain/ledger/instruction.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import { ATTESTOR_INSTRUCTIONS } from "../generated/attestor.ts";
import { CUSTODY_INSTRUCTIONS } from "../generated/custody.ts";
import {
  type ArgsOf,
  decodeArgs,
  type InstructionLayout,
  isInstruction,
} from "./instruction-layout.ts";

type Layouts = {
  readonly custody: typeof CUSTODY_INSTRUCTIONS;
  readonly attestor: typeof ATTESTOR_INSTRUCTIONS;
};

/** The name of each custody instruction, as in the IDL. */
export type CustodyInstructionName = keyof Layouts["custody"];
/** The name of each attestor instruction, as in the IDL. */
export type AttestorInstructionName = keyof Layouts["attestor"];

type Call<Program extends keyof Layouts, Name extends keyof Layouts[Program]> = {
  readonly program: Program;
  readonly name: Name;
  readonly args: Layouts[Program][Name] extends InstructionLayout
    ? ArgsOf<Layouts[Program][Name]>
    : never;
  /** The address of an account by the IDL's name; undefined where the transaction does not show it. */
  readonly at: (
    account: Layouts[Program][Name] extends InstructionLayout
      ? keyof Layouts[Program][Name]["accounts"]
      : never,
  ) => Address | undefined;
};

/** A call of the custody program: one of its instructions, or the one that `Name` says. */
export type CustodyInstructionCall<Name extends CustodyInstructionName = CustodyInstructionName> = {
  [Each in Name]: Call<"custody", Each>;
}[Name];
/** A call of the attestor program: one of its instructions, or the one that `Name` says. */
export type AttestorInstructionCall<
  Name extends AttestorInstructionName = AttestorInstructionName,
> = { [Each in Name]: Call<"attestor", Each> }[Name];
/** A call of one of the two programs, with arguments and accounts by the IDL's names. */
export type ProgramCall = CustodyInstructionCall | AttestorInstructionCall;

type Layout = readonly [name: string, layout: InstructionLayout];
const LAYOUTS: Readonly<Record<keyof Layouts, ReadonlyArray<Layout>>> = {
  custody: Object.entries(CUSTODY_INSTRUCTIONS),
  attestor: Object.entries(ATTESTOR_INSTRUCTIONS),
};

/** An instruction as a message or a node shows it. */
type Shown = {
  readonly program: Address;
  /** Null where a node does not keep it. */
  readonly data: Uint8Array | null;
  readonly accounts: ReadonlyArray<Address | undefined>;
};

/**
 * What a transaction asks of the two programs in one instruction; undefined for another program, and for data that is
 * no instruction of theirs.
 */
export const readCall = (
  { program, data, accounts }: Shown,
  deployment: Pick<Deployment, "custodyProgram"> & Partial<Pick<Deployment, "attestorProgram">>,
): ProgramCall | undefined => {
  const called =
    program === deployment.custodyProgram
      ? "custody"
      : program === deployment.attestorProgram
        ? "attestor"
        : undefined;
  if (called === undefined || data === null) return undefined;
  const entry = LAYOUTS[called].find(([, layout]) => isInstruction(layout, data));
  if (entry === undefined) return undefined;
  const [name, layout] = entry;
  const at = (account: string): Address | undefined =>
    accounts[layout.accounts[account]?.place ?? -1];
  return { program: called, name, args: decodeArgs(layout, data), at } as ProgramCall;
};

/** The same for an instruction with its accounts as addresses. */
export const readInstruction = (
  { programAddress: program, data, accounts }: Instruction,
  deployment: Parameters<typeof readCall>[1],
): ProgramCall | undefined =>
  readCall({ program, data, accounts: accounts.map(({ address }) => address) }, deployment);

/**
 * What each instruction of a message asks of the two programs, by its index. `addresses` are the message's accounts, as
 * far as they are known.
 */
export const readCalls = (
  instructions: ReadonlyArray<{
    readonly program: Address;
    readonly data: Uint8Array;
    readonly accounts: ReadonlyArray<number>;
  }>,
  addresses: ReadonlyArray<Address>,
  deployment: Parameters<typeof readCall>[1],
): ReadonlyArray<ProgramCall | undefined> =>
  instructions.map(({ program, data, accounts }) =>
    readCall({ program, data, accounts: accounts.map((place) => addresses[place]) }, deployment),
  );

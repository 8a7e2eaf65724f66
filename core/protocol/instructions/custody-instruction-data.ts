import { CUSTODY_INSTRUCTIONS } from "../generated/custody.ts";
import {
  type ArgsOf,
  decodeArgs,
  type InstructionLayout,
  isInstruction,
} from "./instruction-layout.ts";

/** The name of each custody instruction, as in the IDL. */
export type CustodyInstructionName = keyof typeof CUSTODY_INSTRUCTIONS;

/** A custody instruction's arguments, as its data carries them. */
export type CustodyInstructionData = {
  readonly [Name in CustodyInstructionName]: { readonly name: Name } & ArgsOf<
    (typeof CUSTODY_INSTRUCTIONS)[Name]
  >;
}[CustodyInstructionName];

const LAYOUTS = Object.entries(CUSTODY_INSTRUCTIONS) as ReadonlyArray<
  readonly [CustodyInstructionName, InstructionLayout]
>;

/** The arguments inside a custody instruction's data, or undefined when it is none. */
export const decodeCustodyInstruction = (data: Uint8Array): CustodyInstructionData | undefined => {
  const found = LAYOUTS.find(([, layout]) => isInstruction(layout, data));
  if (found === undefined) return undefined;
  const [name, layout] = found;
  return { name, ...decodeArgs(layout, data) } as CustodyInstructionData;
};

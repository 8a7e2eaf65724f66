import type { Address } from "../../../core/domain/address.ts";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import {
  ATTESTOR_ERRORS,
  ATTESTOR_INSTRUCTIONS,
} from "../../../core/protocol/generated/attestor.ts";
import { CUSTODY_ERRORS, CUSTODY_INSTRUCTIONS } from "../../../core/protocol/generated/custody.ts";
import type {
  ArgsOf,
  InstructionLayout,
} from "../../../core/protocol/instructions/instruction-layout.ts";
import { PROGRAMS } from "./world.ts";

const codesOf = <Name extends string>(
  errors: ReadonlyArray<{ readonly code: number; readonly name: Name }>,
) => Object.fromEntries(errors.map(({ code, name }) => [name, code])) as Record<Name, number>;

/** Custody's error codes by name. */
export const CUSTODY = codesOf(CUSTODY_ERRORS);
/** The attestor program's. */
export const ATTESTOR = codesOf(ATTESTOR_ERRORS);
/** SPL Token's AccountFrozen (`error.rs`). */
export const TOKEN_FROZEN = 17;

type Custody = typeof CUSTODY_INSTRUCTIONS;
type Attestor = typeof ATTESTOR_INSTRUCTIONS;

/** Decoded arguments, by instruction. */
export type Arguments = {
  readonly [Name in keyof Custody]: ArgsOf<Custody[Name]>;
} & {
  readonly [Name in Exclude<keyof Attestor, "register_merchant" | "rotate_attestor">]: ArgsOf<
    Attestor[Name]
  >;
} & {
  /** A name can be any bytes, and a boolean any byte. */
  readonly register_merchant: { readonly attestor: Address; readonly name: Uint8Array };
  readonly rotate_attestor: { readonly attestor: Address; readonly revoke: number };
};

export type CallName = keyof Arguments;

/** One instruction of the two programs: its meaning, and the bytes that are sent. */
export type Call = {
  readonly [Name in CallName]: {
    readonly kind: "call";
    readonly name: Name;
    readonly args: Arguments[Name];
    readonly sent: Instruction;
    /** Whether the data has a wrong length or a wrong discriminator. */
    readonly garbled: boolean;
  };
}[CallName];

/** The IDL's description of every instruction. */
export const LAYOUTS: Readonly<Record<CallName, InstructionLayout>> = {
  ...CUSTODY_INSTRUCTIONS,
  ...ATTESTOR_INSTRUCTIONS,
};

/** Which of the two programs has an instruction. */
export const programOf = (name: CallName): Address =>
  name in CUSTODY_INSTRUCTIONS ? PROGRAMS.custodyProgram : PROGRAMS.attestorProgram;

/** The form of an Ed25519 instruction, and its claim. */
export type Attesting = {
  readonly kind: "ed25519";
  /**
   * "plain" is one signature whose parts lie in the instruction's own data; the attestor program ignores the other
   * forms.
   */
  readonly form: "plain" | "two" | "none" | "elsewhere";
  /** Whether the signature verifies. */
  readonly valid: boolean;
  readonly key: Address;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
  readonly sent: Instruction;
};

/** A transaction of the model. */
export type Sent = ReadonlyArray<Call | Attesting>;

/**
 * A custom error code, or "precompile" for a signature that does not verify, or "runtime" for a refusal by the runtime
 * itself.
 */
export type Refusal = number | "precompile" | "runtime";

/**
 * Every rule that a call breaks: a program reports the first that it checks, and the protocol does not promise an
 * order.
 */
export class Verdict {
  readonly refusals = new Set<Refusal>();

  get accepted(): boolean {
    return this.refusals.size === 0;
  }

  /** Records the refusal unless the rule holds, and returns whether it holds. */
  require(holds: boolean, refusal: Refusal): boolean {
    if (!holds) this.refusals.add(refusal);
    return holds;
  }
}

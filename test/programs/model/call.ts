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
  readonly [Name in Exclude<keyof Custody, "claim_refund" | "return_rent">]: ArgsOf<Custody[Name]>;
} & {
  /** Empty, or the bytes that a tombstone's account had last. */
  readonly claim_refund: { readonly agentTokenBump: number; readonly lastBytes: Uint8Array };
  readonly return_rent: { readonly lastBytes: Uint8Array };
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

/** One signature in an Ed25519 instruction. */
export type Signature = {
  readonly key: Address;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
};

/** An Ed25519 instruction: what is signed, and how it is laid out. */
export type Attesting = {
  readonly kind: "ed25519";
  /** The exact form with one signature, that with two, or one that custody takes for neither. */
  readonly form: "one" | "two" | "other";
  /** Whether every signature verifies. */
  readonly valid: boolean;
  readonly signed: ReadonlyArray<Signature>;
  readonly sent: Instruction;
};

/** What a transaction limits: compute units, or bytes of loaded accounts. */
export type Limit = {
  readonly kind: "limit";
  readonly of: "units" | "loaded";
  readonly value: number;
  readonly sent: Instruction;
};

/** What the System program does with an account that signs: it gets data, or another owner. */
export type Own = {
  readonly kind: "own";
  readonly address: Address;
  readonly does: "allocate" | "assign";
  /** Bytes. */
  readonly size: number;
  readonly sent: Instruction;
};

/** A transaction of the model. */
export type Sent = ReadonlyArray<Call | Attesting | Limit | Own>;

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

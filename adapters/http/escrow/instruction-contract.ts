import { type Static, Type } from "@sinclair/typebox";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import type {
  AccountRole,
  Instruction as DomainInstruction,
} from "../../../core/domain/ledger/instruction.ts";
import type { OpenInstruction as DomainOpenInstruction } from "../../../core/domain/escrow/next-action.ts";
import { Address, Base64, nullable, oneOf, record } from "../openapi/values.ts";

/** What a transaction may do with an account. */
export const ROLES = ["readonly", "writable", "readonly_signer", "writable_signer"] as const;

const Role = oneOf(ROLES, "What the transaction may do with the account.");

/** An unsigned instruction, ready to be put into a transaction. */
export const Instruction = record(
  "Instruction",
  "An unsigned instruction: a client in any language can build the transaction from it.",
  {
    program_address: Address("The program that is called."),
    accounts: Type.Array(
      record("InstructionAccount", "One account of an instruction, in the program's order.", {
        address: Address("The account."),
        role: Role,
      }),
    ),
    data_base64: Base64("The instruction's data."),
  },
);
/** An instruction as JSON, its data in base64. */
export type InstructionRecord = Static<typeof Instruction>;

/** An instruction whose fee payer is whoever sends it. */
export const OpenInstruction = record(
  "OpenInstruction",
  "An unsigned instruction that anyone may send: put your own address where an account's is null.",
  {
    program_address: Address("The program that is called."),
    accounts: Type.Array(
      record("OpenInstructionAccount", "One account of an open instruction.", {
        address: nullable(Address("The account."), { description: "Null: the sender's own." }),
        role: Role,
      }),
    ),
    data_base64: Base64("The instruction's data."),
  },
);
/** An instruction without its fee payer as JSON; null stands for the sender's address. */
export type OpenInstructionRecord = Static<typeof OpenInstruction>;

const roleName = (role: AccountRole) => ROLES[role];

/** An instruction as JSON. */
export const instructionRecord = (instruction: DomainInstruction): InstructionRecord => ({
  program_address: instruction.programAddress,
  accounts: instruction.accounts.map(({ address, role }) => ({ address, role: roleName(role) })),
  data_base64: encodeBase64(instruction.data),
});

/** An instruction with open fee payer as JSON. */
export const openInstructionRecord = (
  instruction: DomainOpenInstruction,
): OpenInstructionRecord => ({
  program_address: instruction.programAddress,
  accounts: instruction.accounts.map(({ address, role }) => ({ address, role: roleName(role) })),
  data_base64: encodeBase64(instruction.data),
});

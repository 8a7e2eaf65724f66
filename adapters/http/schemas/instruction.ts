import { type Static, Type } from "@sinclair/typebox";
import { Address, Base64, nullable, oneOf, record } from "./values.ts";

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
export type OpenInstructionRecord = Static<typeof OpenInstruction>;

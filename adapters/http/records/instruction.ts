import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import type { AccountRole, Instruction } from "../../../core/domain/ledger/instruction.ts";
import type { OpenInstruction } from "../../../core/domain/escrow/next-action.ts";
import {
  type InstructionRecord,
  type OpenInstructionRecord,
  ROLES,
} from "../schemas/instruction.ts";

const roleName = (role: AccountRole) => ROLES[role];

/** An instruction as JSON. */
export const instructionRecord = (instruction: Instruction): InstructionRecord => ({
  program_address: instruction.programAddress,
  accounts: instruction.accounts.map(({ address, role }) => ({ address, role: roleName(role) })),
  data_base64: encodeBase64(instruction.data),
});

/** An instruction with open fee payer as JSON. */
export const openInstructionRecord = (instruction: OpenInstruction): OpenInstructionRecord => ({
  program_address: instruction.programAddress,
  accounts: instruction.accounts.map(({ address, role }) => ({ address, role: roleName(role) })),
  data_base64: encodeBase64(instruction.data),
});

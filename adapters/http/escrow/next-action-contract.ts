import { type Static, Type } from "@sinclair/typebox";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import {
  AWAITED,
  type NextAction as DomainNextAction,
  type OpenInstruction as DomainOpenInstruction,
  NEXT_ACTION_PARTIES,
  NEXT_ACTIONS,
  type NextActionName,
} from "../../../core/domain/escrow/prepared-call.ts";
import type {
  AccountRole,
  Instruction as DomainInstruction,
} from "../../../core/domain/ledger/instruction.ts";
import { formatUnixTime } from "../../../core/domain/unix-time.ts";
import { Address, Base64, nullable, oneOf, record, Time } from "../openapi/values.ts";

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
type InstructionRecord = Static<typeof Instruction>;

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
type OpenInstructionRecord = Static<typeof OpenInstruction>;

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

/** What must be obtained before something can be done. */
export const Awaited = oneOf(
  AWAITED,
  "`attestation`: the signed claim of the escrow's attestor. `attestation_and_voucher`: that claim and the voucher of the session's key. `payout_account`: a token account of the payee that can receive tokens, because the associated one cannot.",
);

const NAMES = Object.keys(NEXT_ACTIONS) as ReadonlyArray<NextActionName>;
const YOURS = Type.Optional(Type.Null({ description: "The caller fills it in." }));

const PrepareCall = record("PrepareCall", "The operation that gives the instructions.", {
  method: Type.Literal("POST"),
  path: Type.String({ description: "The path on this service." }),
  body: record("PrepareCallBody", "The members that the body must have.", {
    proof_hash: YOURS,
    timestamp: YOURS,
    amount_stroops: YOURS,
    deliveries: YOURS,
    attestation_signature: YOURS,
    voucher: YOURS,
  }),
});

/** Something that can be done with an escrow now. */
export const NextAction = record("NextAction", "Something that can be done with an escrow now.", {
  action: oneOf(NAMES, "What can be done."),
  by: oneOf(NEXT_ACTION_PARTIES, "Who may do it."),
  awaiting: nullable(Awaited, { description: "What must be obtained first; null when nothing." }),
  until: nullable(Time("From this second on it is too late."), {
    description: "Null: never too late.",
  }),
  prepare: PrepareCall,
  instructions: Type.Array(OpenInstruction, {
    description:
      "The unsigned instructions of a refund or a return of rent, in order. Empty while something is awaited, and for actions whose instructions only `prepare` gives. Only the live read of one escrow checks the account that they pay.",
  }),
});
type NextActionRecord = Static<typeof NextAction>;

/** The members that the body of an action's prepare operation must have; null: the caller fills it in. */
const bodyOf = ({ awaiting }: DomainNextAction): Static<typeof PrepareCall>["body"] => {
  const claim = { proof_hash: null, timestamp: null, attestation_signature: null } as const;
  switch (awaiting) {
    case "attestation":
      return claim;
    case "attestation_and_voucher":
      return { ...claim, amount_stroops: null, deliveries: null, voucher: null };
    case "payout_account":
    case null:
      return {};
  }
};

/** A next action as JSON. */
export const nextActionRecord = (next: DomainNextAction): NextActionRecord => ({
  action: next.action,
  by: next.by,
  awaiting: next.awaiting,
  until: next.until === null ? null : formatUnixTime(next.until),
  prepare: {
    method: "POST",
    path: `/v1/escrows/${next.escrow}/${NEXT_ACTIONS[next.action]}/prepare`,
    body: bodyOf(next),
  },
  instructions: next.instructions.map(openInstructionRecord),
});

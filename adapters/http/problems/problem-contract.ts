import { type Static, Type } from "@sinclair/typebox";
import { STATE_RULES } from "../../../core/use-cases/request-errors.ts";
import { SETTLEMENT_RULES } from "../../../core/domain/relay/settlement-rule.ts";
import { PROBLEM_CATALOGUE, PROBLEM_CODES, type ProblemCode } from "./problem-catalogue.ts";
import { problemType } from "./problem.ts";
import { ProgramError, TransactionError } from "../relay/relay-contract.ts";
import { Tombstone } from "../escrow/escrow-contract.ts";
import { Awaited, NextAction } from "../escrow/next-action-contract.ts";
import {
  Address,
  Count,
  EscrowState,
  MerchantStatus,
  nullable,
  oneOf,
  record,
  Signature,
  Slot,
  Time,
} from "../openapi/values.ts";

const Fault = record("Fault", "One place where a request breaks the contract.", {
  pointer: Type.String({
    description:
      "JSON pointer (RFC 6901) into the body, `?name` for a query parameter, `/name` for a path parameter.",
    examples: ["/ttl_seconds", "?limit"],
  }),
  detail: Type.String(),
});

const Code = oneOf(PROBLEM_CODES, "Stable machine name of a problem.", "ProblemCode");

/** An RFC 9457 problem document, with this service's own members. */
export const Problem = Type.Object(
  {
    type: Type.String({ description: "A path of this service that explains the problem." }),
    title: Type.String(),
    status: Type.Integer({ minimum: 400, maximum: 599 }),
    detail: Type.String(),
    instance: Type.String({ description: "Names this occurrence." }),
    code: Code,
    cure: Type.String({ description: "What to do." }),
    request_id: Type.String(),
    message: Type.Optional(
      Type.String({ description: "The same in one line, where a wallet reads it." }),
    ),
    errors: Type.Optional(Type.Array(Fault)),
    reason: Type.Optional(
      Type.String({
        description:
          "Which check of an account's bytes failed, or what a node's answer contradicts: `contradicts_index`, `contradicts_relay`.",
      }),
    ),
    signature: Type.Optional(Signature("The transaction's signature.")),
    signer: Type.Optional(Address("Whose signature it is.")),
    program: Type.Optional(nullable(Address("The program in question."))),
    error: Type.Optional(nullable(TransactionError)),
    program_error: Type.Optional(nullable(ProgramError)),
    rule: Type.Optional(
      oneOf(
        [...SETTLEMENT_RULES, ...STATE_RULES],
        "The rule that does not hold for an instruction of the transaction, or of what is prepared.",
      ),
    ),
    instruction_index: Type.Optional(Count("The instruction that breaks the rule.")),
    actual: Type.Optional(Type.String({ description: "What the transaction asks for." })),
    max: Type.Optional(Type.String({ description: "The most that the relay accepts." })),
    holder: Type.Optional(oneOf(["client", "fee_payer"], "Whose share of the queue is full.")),
    share: Type.Optional(Count("How many pending transactions the share allows at present.")),
    state: Type.Optional(
      nullable(Type.Union([EscrowState, MerchantStatus]), {
        description: "The escrow's state or the merchant's status; null when there is neither.",
      }),
    ),
    awaiting: Type.Optional(nullable(Awaited)),
    next_actions: Type.Optional(
      Type.Array(NextAction, { description: "What can be done with the escrow instead." }),
    ),
    ledger_time: Type.Optional(Time("The ledger's clock at that slot.")),
    archived: Type.Optional(Tombstone),
    slot: Type.Optional(Slot("Where the transaction failed, or what was read.")),
    commitment: Type.Optional(
      oneOf(["processed", "confirmed", "finalized"], "The commitment of that slot."),
    ),
    finalized_slot: Type.Optional(Slot("How far the ledger is final.")),
    wait_seconds: Type.Optional(Count("How long to wait, as `Retry-After` says it.")),
    safe_to_sign_again: Type.Optional(
      Type.Boolean({
        description: "Whether it is safe to sign the payment again without paying twice.",
      }),
    ),
    nodes: Type.Optional(
      Count(
        "How many of the configured addresses of nodes say so: two where two are configured. Two addresses may lead to one node.",
      ),
    ),
    index: Type.Optional(Count("The number of the escrow's last event.")),
    log_size: Type.Optional(Count("Leaves of the published log.")),
    logs: Type.Optional(Type.Array(Type.String())),
  },
  {
    title: "Problem",
    description: "An RFC 9457 problem document.",
    additionalProperties: false,
  },
);

/** A problem document of one code, as an example. */
export const problemExample = (code: ProblemCode) => {
  const { status, title, explanation, cure } = PROBLEM_CATALOGUE[code];
  return {
    type: problemType(code),
    title,
    status,
    detail: explanation,
    instance: `${problemType(code)}#018f6a1e-2b3c-4d5e-8f90-a1b2c3d4e5f6`,
    code,
    cure,
    request_id: "018f6a1e-2b3c-4d5e-8f90-a1b2c3d4e5f6",
  };
};

/** The body of `GET /problems/{code}`. */
export const ProblemPage = record("ProblemPage", "What a problem means, and its cure.", {
  type: Type.String(),
  code: Code,
  status: Type.Integer(),
  title: Type.String(),
  explanation: Type.String(),
  cure: Type.String(),
});

/** A problem's page as JSON. */
export const problemPageRecord = (code: ProblemCode): Static<typeof ProblemPage> => {
  const { status, title, explanation, cure } = PROBLEM_CATALOGUE[code];
  return { type: problemType(code), code, status, title, explanation, cure };
};

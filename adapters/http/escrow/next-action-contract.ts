import { type Static, Type } from "@sinclair/typebox";
import {
  AWAITED,
  type NextAction as DomainNextAction,
  NEXT_ACTION_PARTIES,
  NEXT_ACTIONS,
  type NextActionName,
} from "../../../core/domain/escrow/next-action.ts";
import { formatUnixTime } from "../../../core/domain/unix-time.ts";
import { nullable, oneOf, record, Time } from "../openapi/values.ts";
import { OpenInstruction, openInstructionRecord } from "./instruction-contract.ts";

/** What must be obtained before something can be done. */
export const Awaited = oneOf(
  AWAITED,
  "`attestation`: the signed claim of the escrow's attestor. `payout_account`: a token account of the payee that can receive tokens, because the associated one cannot.",
);

const NAMES = Object.keys(NEXT_ACTIONS) as ReadonlyArray<NextActionName>;
const YOURS = Type.Optional(Type.Null({ description: "The caller fills it in." }));

const PrepareCall = record("PrepareCall", "The operation that gives the instructions.", {
  method: Type.Literal("POST"),
  path: Type.String({ description: "The path on this service." }),
  body: record("PrepareCallBody", "The members that the body must have.", {
    proof_hash: YOURS,
    timestamp: YOURS,
    attestation_signature: YOURS,
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
      "The unsigned instructions of a refund, in order. Empty while something is awaited, and for actions whose instructions only `prepare` gives. Only the live read of one escrow checks the account that they pay.",
  }),
});
type NextActionRecord = Static<typeof NextAction>;

/** A next action as JSON. */
export const nextActionRecord = (next: DomainNextAction): NextActionRecord => ({
  action: next.action,
  by: next.by,
  awaiting: next.awaiting,
  until: next.until === null ? null : formatUnixTime(next.until),
  prepare: {
    method: "POST",
    path: `/v1/escrows/${next.escrow}/${NEXT_ACTIONS[next.action]}/prepare`,
    body:
      next.action === "release_escrow"
        ? { proof_hash: null, timestamp: null, attestation_signature: null }
        : {},
  },
  instructions: next.instructions.map(openInstructionRecord),
});

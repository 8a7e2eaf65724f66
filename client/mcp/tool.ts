import type { TrustPolicy } from "../../core/domain/evidence/evidence-check.ts";
import type { Requests } from "../service/requests.ts";
import { SettlementError } from "../settlement-error.ts";
import type { AgentSessions } from "./agent-sessions.ts";
import type { ServiceCall } from "./ask.ts";
import {
  inputSchema,
  type ObjectSchema,
  type Parameters,
  readArguments,
  type ValuesOf,
} from "./parameter.ts";
import { type Fields, heldTo, schemasOf } from "./output.ts";

/** What a person answered to a question: null when nobody was asked yet. */
export type Consent = "given" | "refused" | null;

/** What a tool works with. */
export type ToolContext = Pick<Requests, "stream" | "clock"> & {
  readonly call: ServiceCall;
  /** The pinned trust policy; null without one, as on the service itself. */
  readonly trust: TrustPolicy | null;
  /**
   * Whether prepared transactions are rebuilt and compared before they are shown. True where the tools run beside a
   * wallet. The service cannot judge itself.
   */
  readonly rebuilds: boolean;
  /** Whether the client can ask its person. */
  readonly canAsk: boolean;
  /** The answer to the question about this very `subject`. */
  readonly consentTo: (subject: string) => Consent;
  /** The sessions that this process keeps; null where it keeps none, as on the service itself. */
  readonly sessions: AgentSessions | null;
  /** Ends with the client's interest in the call. */
  readonly signal: AbortSignal;
};

/** A question to the person behind the client, and what it is about. */
export type Question = { readonly message: string; readonly subject: string };

/**
 * The question that the person must answer first, null once they agreed. `instead` says what to do where the client
 * cannot ask. @throws SettlementError `not_confirmed`, `cannot_ask`
 */
export const questionTo = (
  { canAsk, consentTo }: Pick<ToolContext, "canAsk" | "consentTo">,
  question: Question,
  instead: string,
): Question | null => {
  const consent = consentTo(question.subject);
  if (consent === "given") return null;
  if (consent === "refused")
    throw new SettlementError(
      "not_confirmed",
      "The person did not confirm; nothing was sent.",
      "Call again only when they ask for it.",
    );
  if (canAsk) return question;
  throw new SettlementError(
    "cannot_ask",
    "This client cannot ask its person (elicitation) over this connection; nothing was sent.",
    instead,
  );
};

/** A record that a client can read as a resource. */
export type Link = { readonly uri: string; readonly name: string };

/** What a call of a tool gives: a result, or a question that must be answered first. */
export type ToolAnswer =
  | { readonly result: object; readonly links?: ReadonlyArray<Link> }
  | { readonly question: Question };

/** What a client may assume of a tool before it calls it (MCP, `ToolAnnotations`). */
export type Annotations = {
  readonly readOnlyHint: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
};

/** For a tool that only reads. */
export const READS: Annotations = { readOnlyHint: true };

/** What a tool's run gives: a service's answer that holds the result, or a result that was held to its form already. */
type Run = ToolAnswer | { readonly answer: unknown; readonly links?: ReadonlyArray<Link> };

/** A tool: its declaration, and what runs it. */
export type Tool = {
  readonly name: string;
  readonly description: string;
  readonly annotations: Annotations;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema;
  /** @throws SettlementError */
  readonly run: (args: unknown, context: ToolContext) => Promise<ToolAnswer>;
};

/** The schema of a result with these members, each of them required unless it is among `maybe`. */
const outputSchema = (fields: Fields, maybe: ReadonlyArray<string>): ObjectSchema => ({
  type: "object",
  properties: schemasOf(fields),
  required: Object.keys(fields).filter((name) => !maybe.includes(name)),
});

/** Declares a tool. `run` is given checked arguments of the types of its parameters. */
export const tool = <const P extends Parameters>(spec: {
  readonly name: string;
  readonly description: string;
  readonly annotations?: Annotations;
  readonly parameters: P;
  /** The members of its result, to which a service's answer is held. */
  readonly output: Fields;
  /** Members that a result may lack. */
  readonly maybe?: ReadonlyArray<string>;
  readonly run: (args: ValuesOf<P>, context: ToolContext) => Promise<Run>;
}): Tool => ({
  name: spec.name,
  description: spec.description,
  annotations: spec.annotations ?? READS,
  inputSchema: inputSchema(spec.parameters),
  outputSchema: outputSchema(spec.output, spec.maybe ?? []),
  run: async (args, context) => {
    const run = await spec.run(readArguments(spec.parameters, args), context);
    if (!("answer" in run)) return run;
    const { answer, ...links } = run;
    return { result: heldTo(spec.output, answer), ...links };
  },
});

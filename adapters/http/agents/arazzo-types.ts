/** A condition on the answer; without a type it is a simple comparison (Arazzo 1.0.1, "Criterion Object"). */
type Criterion = {
  readonly condition: string;
  readonly context?: "$response.body";
  readonly type?: "jsonpath";
};

/** What happens after a step whose criteria do not hold. */
type FailureAction = { readonly name: string; readonly criteria: ReadonlyArray<Criterion> } & (
  | { readonly type: "retry"; readonly retryAfter: number; readonly retryLimit: number }
  | { readonly type: "goto"; readonly stepId: string }
  | { readonly type: "end" }
);

/** What someone's own keys sign once the step has succeeded; `SIGNING` in arazzo-document.ts defines each member. */
type Signing = {
  readonly type: "transaction" | "message";
  readonly value: string;
  readonly signers: string;
  readonly output: string;
  readonly check: string;
};

/** One call of an operation. */
export type Step = {
  readonly stepId: string;
  readonly description: string;
  readonly operationId: string;
  readonly parameters?: ReadonlyArray<{
    readonly name: string;
    readonly in: "path" | "query";
    readonly value: string | boolean;
  }>;
  readonly requestBody?: {
    readonly contentType: "application/json";
    readonly payload: Readonly<Record<string, string | boolean>>;
  };
  readonly successCriteria: ReadonlyArray<Criterion>;
  readonly onFailure?: ReadonlyArray<FailureAction>;
  readonly outputs?: Readonly<Record<string, string>>;
  readonly "x-sign"?: Signing;
};

/** One life of an escrow, step by step. */
export type Workflow = {
  readonly workflowId: string;
  readonly summary: string;
  readonly description: string;
  readonly inputs: {
    readonly type: "object";
    readonly required: ReadonlyArray<string>;
    readonly properties: Readonly<Record<string, object>>;
  };
  readonly steps: ReadonlyArray<Step>;
  readonly outputs: Readonly<Record<string, string>>;
};

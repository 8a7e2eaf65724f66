import { type Call, callOperation, type OpenApi } from "./call-operation.ts";
import { type Criterion, holds } from "./criterion.ts";
import { evaluate, type Scope } from "./expression.ts";
import { sign, type Signing, type SignWith } from "./sign.ts";

type FailureAction = {
  readonly name: string;
  readonly type: string;
  readonly stepId?: string;
  readonly retryAfter?: number;
  readonly retryLimit?: number;
  readonly criteria?: ReadonlyArray<Criterion>;
};

type Step = Call & {
  readonly stepId: string;
  readonly successCriteria?: ReadonlyArray<Criterion>;
  readonly onFailure?: ReadonlyArray<FailureAction>;
  readonly outputs?: Readonly<Record<string, string>>;
  readonly "x-sign"?: Signing;
};

/** A workflow of an Arazzo document. */
export type Workflow = {
  readonly workflowId: string;
  readonly inputs: {
    readonly required: ReadonlyArray<string>;
    readonly properties: Readonly<Record<string, { readonly examples?: ReadonlyArray<unknown> }>>;
  };
  readonly steps: ReadonlyArray<Step>;
  readonly outputs: Readonly<Record<string, string>>;
};

/** What a run needs from outside the document. */
export type Runner = {
  /** Where the source description's relative paths begin. */
  readonly base: string;
  readonly openApi: OpenApi;
  readonly signWith: SignWith;
  readonly pause: (seconds: number) => Promise<void>;
};

/** The first example of every input, as the document gives it. */
export const exampleInputs = ({ inputs }: Workflow): Scope["inputs"] =>
  Object.fromEntries(
    Object.entries(inputs.properties).map(([name, { examples = [] }]) => [name, examples[0]]),
  );

const outputsOf = (step: Step, scope: Scope, signWith: SignWith): ReadonlyMap<string, unknown> => {
  const outputs = new Map(
    Object.entries(step.outputs ?? {}).map(([name, expression]) => [
      name,
      evaluate(expression, scope),
    ]),
  );
  const signing = step["x-sign"];
  if (signing !== undefined) outputs.set(signing.output, sign(signing, scope, signWith));
  return outputs;
};

/**
 * Runs a workflow from its first step to its end and gives its outputs and the steps that ran, in order. @throws Error
 * where a step fails without an action that goes on, with its answer.
 */
export const runWorkflow = async (runner: Runner, workflow: Workflow, inputs: Scope["inputs"]) => {
  const missing = workflow.inputs.required.filter((name) => inputs[name] === undefined);
  if (missing.length > 0) throw new Error(`inputs without a value: ${missing.join(", ")}`);
  const steps = new Map<string, ReadonlyMap<string, unknown>>();
  const ran: Array<string> = [];
  const retries = new Map<FailureAction, number>();
  const indexOf = (stepId: string | undefined): number =>
    workflow.steps.findIndex((step) => step.stepId === stepId);
  for (let at = 0; at < workflow.steps.length;) {
    const step = workflow.steps[at];
    if (step === undefined) throw new Error("a step that the workflow does not have");
    const before: Scope = { inputs, steps };
    const answer = await callOperation(runner.base, runner.openApi, step, before);
    const scope: Scope = { ...before, answer };
    const { successCriteria = [], onFailure = [] } = step;
    if (successCriteria.every((criterion) => holds(criterion, scope))) {
      steps.set(step.stepId, outputsOf(step, scope, runner.signWith));
      ran.push(step.stepId);
      at += 1;
      continue;
    }
    const action = onFailure.find(({ criteria = [] }) =>
      criteria.every((criterion) => holds(criterion, scope)),
    );
    const tries = action === undefined ? 0 : (retries.get(action) ?? 0);
    const goesOn =
      action?.type === "goto" || (action?.type === "retry" && tries < (action.retryLimit ?? 1));
    if (action === undefined || !goesOn)
      throw new Error(
        `${workflow.workflowId}.${step.stepId} ends (${action?.name ?? "no action"}): ${answer.status} ${JSON.stringify(answer.body)}`,
      );
    retries.set(action, tries + 1);
    if (action.type === "goto") at = indexOf(action.stepId);
    else await runner.pause(action.retryAfter ?? 0);
  }
  const scope: Scope = { inputs, steps };
  const outputs = Object.fromEntries(
    Object.entries(workflow.outputs).map(([name, expression]) => [
      name,
      evaluate(expression, scope),
    ]),
  );
  return { outputs, ran };
};

import { type Call, callOperation, type OpenApi } from "./call-operation.ts";
import { evaluate, type Scope } from "./expression.ts";
import { decodeBase64, encodeBase64 } from "../../../core/domain/encoding/base64.ts";

/** A Criterion Object of the types `simple` and `jsonpath`. */
type Criterion = {
  readonly condition: string;
  readonly context?: string;
  readonly type?: string;
};

const COMPARISON = /^(\S+)\s*(==|!=)\s*('[^']*'|\S+)$/;

const literal = (text: string): unknown =>
  text.startsWith("'") ? text.slice(1, -1) : (JSON.parse(text) as unknown);

/**
 * Whether comparisons joined by `&&` hold; `valueOf` gives what their left sides mean. @throws Error for any other
 * condition.
 */
const holdAll = (comparisons: string, valueOf: (left: string) => unknown): boolean =>
  comparisons.split("&&").every((comparison) => {
    const [, left = "", operator, right] = COMPARISON.exec(comparison.trim()) ?? [];
    if (right === undefined) throw new Error(`unknown condition: ${comparison}`);
    const value = valueOf(left);
    return operator === "==" ? value === literal(right) : value !== literal(right);
  });

const FILTER = /^\$\[\?\((.+)\)\]$/;

/** Whether `$[?(…)]` selects a child of the value. A member that a child lacks equals nothing. */
const selects = (path: string, value: unknown): boolean => {
  const [, filter] = FILTER.exec(path) ?? [];
  if (filter === undefined) throw new Error(`unknown JSONPath: ${path}`);
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some(
    (child) =>
      typeof child === "object" &&
      child !== null &&
      holdAll(filter, (left) => {
        const [, name] = /^@\.(\w+)$/.exec(left) ?? [];
        if (name === undefined) throw new Error(`unknown path in a filter: ${left}`);
        return (child as Record<string, unknown>)[name];
      }),
  );
};

/** Whether a criterion holds. @throws Error for a type or condition it does not know. */
const holds = ({ condition, context, type = "simple" }: Criterion, scope: Scope): boolean => {
  if (type === "simple") return holdAll(condition, (left) => evaluate(left, scope));
  if (type !== "jsonpath" || context === undefined) throw new Error(`unknown criterion: ${type}`);
  return selects(condition, evaluate(context, scope));
};

/** The extension `x-sign` of a step, as the document's description defines it. */
type Signing = {
  readonly type: string;
  readonly value: string;
  readonly signers: string;
  readonly output: string;
};

/** Signs bytes with an address's key; 64 bytes of Ed25519. @throws Error for an address without a key here. */
type SignWith = (address: string, message: Uint8Array) => Uint8Array;

const SIGNATURE_BYTES = 64;

/** The base64 that the extension's output holds. @throws Error for a type it does not know. */
const sign = ({ type, value, signers }: Signing, scope: Scope, signWith: SignWith): string => {
  const bytes = decodeBase64(String(evaluate(value, scope)));
  const addresses = [evaluate(signers, scope)].flat().map(String);
  const [first, ...others] = addresses;
  if (bytes === undefined || first === undefined) throw new Error("nothing to sign, or nobody");
  if (type === "message" && others.length === 0) return encodeBase64(signWith(first, bytes));
  if (type !== "transaction") throw new Error(`unknown x-sign: ${type}`);
  const message = bytes.slice(1 + SIGNATURE_BYTES * addresses.length);
  addresses.forEach((address, at) =>
    bytes.set(signWith(address, message), 1 + SIGNATURE_BYTES * at),
  );
  return encodeBase64(bytes);
};

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

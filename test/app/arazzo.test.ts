import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { localKey } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { parseTrustPolicy } from "../../core/protocol/evidence/trust-policy.ts";
import { verifyEvidence } from "../../core/protocol/verification/verify-evidence.ts";
import type { OpenApi } from "./arazzo/call-operation.ts";
import { exampleInputs, runWorkflow, type Workflow } from "./arazzo/run-workflow.ts";
import { demoService } from "./support/demo-ledger.ts";

type Arazzo = {
  readonly sourceDescriptions: ReadonlyArray<{ readonly url: string }>;
  readonly workflows: ReadonlyArray<Workflow>;
};

/** The keys of everyone in the demo data, by address. */
const KEYS = new Map(
  ["agent/planner", "agent/trader", "merchant/forecast", "attestor/forecast"]
    .map(localKey)
    .map((key) => [key.address as string, key]),
);

const signWith = (address: string, message: Uint8Array): Uint8Array => {
  const key = KEYS.get(address);
  if (key === undefined) throw new Error(`nobody signs for ${address}`);
  return key.sign(message);
};

const { service, end } = await demoService();
let document: Arazzo;

const read = async <A>(path: string): Promise<A> =>
  (await (await fetch(new URL(path, service.url))).json()) as A;

beforeAll(async () => {
  document = await read<Arazzo>("/arazzo.json");
});
afterAll(end);

const schema = async () =>
  Bun.YAML.parse(
    await Bun.file(join(import.meta.dir, "../vectors/arazzo/schema.yaml")).text(),
  ) as object;

test("the document meets the schema of Arazzo 1.0, and a wrong one does not", async () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  const validate = ajv.compile(await schema());
  validate(document);
  expect(validate.errors ?? []).toEqual([]);
  const [workflow] = document.workflows;
  expect(validate({ ...document, workflows: [{ ...workflow, steps: [] }] })).toBe(false);
  expect(validate({ ...document, workflows: [{ ...workflow, sign: true }] })).toBe(false);
});

test("every workflow runs from the document alone, and its packet verifies", async () => {
  const openApi = await read<OpenApi>(document.sourceDescriptions[0]?.url ?? "");
  const runner = {
    base: service.url,
    openApi,
    signWith,
    pause: (seconds: number) => Bun.sleep(seconds * 1000),
  };
  expect(document.workflows.length).toBeGreaterThan(1);
  const ends = await Promise.all(
    document.workflows.map(async (workflow) => {
      const { outputs, ran } = await runWorkflow(runner, workflow, exampleInputs(workflow));
      expect(ran).toEqual(workflow.steps.map(({ stepId }) => stepId));
      const trust = parseTrustPolicy(JSON.stringify(outputs["trust"]));
      if ("fault" in trust) throw new Error(trust.fault);
      const { verdict, checks } = verifyEvidence(JSON.stringify(outputs["packet"]), trust.value);
      const failed = checks.filter(({ outcome }) => outcome === "failed");
      const { data } = outputs["packet"] as {
        data: { settlement_decision: { status: string }; escrow: { escrow_pda: string } };
      };
      expect(data.escrow.escrow_pda).toBe(String(outputs["escrow"]));
      return [workflow.workflowId, data.settlement_decision.status, verdict, failed] as const;
    }),
  );
  // Different lives end differently; each life is named for its end in its own document.
  expect(new Set(ends.map(([, status]) => status)).size).toBe(ends.length);
  for (const [, , verdict, failed] of ends) expect([verdict, failed]).toEqual(["verified", []]);
}, 60_000);

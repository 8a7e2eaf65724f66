import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { tmpdir } from "../../temporary-root.ts";
import { startMcpService } from "./mcp-service.ts";

// The official suite, version 0.1.16, with all of its scenarios for servers. It knows the revisions up to 2025-11-25.

const SUITE = join(
  import.meta.dir,
  "../../../node_modules/@modelcontextprotocol/conformance/dist/index.js",
);

/** What a server without a feature must answer. */
const NOT_OFFERED = /^Failed: MCP error -32601: Method not found$/;
/** What this server answers to the tools and records that the suite expects of its own example server. */
const FIXTURE =
  /^Failed: MCP error -32602: There is no tool test_\w+\. Call one of |^Failed: MCP error -32602: resource_not_found: There is no resource test:\/\/|^Tool 'json_schema_2020_12_tool' not found/;

/** The scenarios that do not apply, each with the only failure that it may have. */
const EXCEPTIONS: Readonly<Record<string, RegExp>> = {
  "logging-set-level": NOT_OFFERED,
  "completion-complete": NOT_OFFERED,
  "resources-subscribe": NOT_OFFERED,
  "resources-unsubscribe": NOT_OFFERED,
  "prompts-list": NOT_OFFERED,
  "prompts-get-simple": NOT_OFFERED,
  "prompts-get-with-args": NOT_OFFERED,
  "prompts-get-embedded-resource": NOT_OFFERED,
  "prompts-get-with-image": NOT_OFFERED,
  "tools-call-with-logging": NOT_OFFERED,
  "tools-call-simple-text": FIXTURE,
  "tools-call-image": FIXTURE,
  "tools-call-audio": FIXTURE,
  "tools-call-embedded-resource": FIXTURE,
  "tools-call-mixed-content": FIXTURE,
  "tools-call-error": FIXTURE,
  "tools-call-with-progress": FIXTURE,
  "tools-call-sampling": FIXTURE,
  "tools-call-elicitation": FIXTURE,
  "json-schema-2020-12": FIXTURE,
  "elicitation-sep1034-defaults": FIXTURE,
  "elicitation-sep1330-enums": FIXTURE,
  "resources-read-text": FIXTURE,
  "resources-read-binary": FIXTURE,
  "resources-templates-read": FIXTURE,
};

type Check = { readonly status: string; readonly errorMessage?: string };

let service: Awaited<ReturnType<typeof startMcpService>>;
let results: string;
/** The checks of each scenario, by its name. */
const checks = new Map<string, ReadonlyArray<Check>>();

beforeAll(async () => {
  service = await startMcpService();
  results = await mkdtemp(join(tmpdir(), "mcp-conformance-"));
  const suite = Bun.spawn(
    [
      process.execPath,
      SUITE,
      "server",
      "--url",
      `${service.url}/mcp`,
      "--suite",
      "all",
      "-o",
      results,
    ],
    { cwd: results, stdout: "ignore", stderr: "ignore" },
  );
  await suite.exited;
  for (const folder of await readdir(results)) {
    const name = /^server-(.+?)-\d{4}-\d{2}-\d{2}T/.exec(folder)?.[1] ?? folder;
    const file = Bun.file(join(results, folder, "checks.json"));
    checks.set(name, (await file.json()) as ReadonlyArray<Check>);
  }
}, 120_000);
afterAll(async () => {
  await service.stop();
  await rm(results, { recursive: true, force: true });
});

const failuresOf = (name: string): ReadonlyArray<string> =>
  (checks.get(name) ?? [])
    .filter(({ status }) => status === "FAILURE")
    .map(({ errorMessage = "" }) => errorMessage);

test("every scenario for servers ran", () => {
  expect(checks.size).toBe(32);
  const passed = [...checks.values()].flat().filter(({ status }) => status === "SUCCESS");
  expect(passed.length).toBeGreaterThanOrEqual(6);
});

test("every scenario that applies passes", () => {
  const failed = [...checks.keys()].filter(
    (name) => !Object.hasOwn(EXCEPTIONS, name) && failuresOf(name).length > 0,
  );
  expect(failed.map((name) => [name, failuresOf(name)])).toEqual([]);
});

test("each exception fails, and for its own reason only", () => {
  const wrong = Object.entries(EXCEPTIONS).filter(([name, reason]) => {
    const failures = failuresOf(name);
    return failures.length === 0 || !failures.every((failure) => reason.test(failure));
  });
  expect(wrong.map(([name]) => [name, failuresOf(name)])).toEqual([]);
});

import { afterAll, beforeAll, expect, test } from "bun:test";
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { prepareRequestExample } from "../../adapters/http/escrow/prepare/prepared-escrow-contract.ts";
import {
  sampleEscrow,
  sampleMerchant,
  sampleParties,
} from "../../adapters/http/openapi/sample-values.ts";
import { startListening } from "../adapters/http/support/listening-service.ts";
import { tmpdir } from "../temporary-root.ts";
import { type Language, missingFor, TOOLS } from "./toolchain.ts";

const CALLERS = join(import.meta.dir, "callers");
const TSC = join(import.meta.dir, "../../node_modules/.bin/tsc");

let service: Awaited<ReturnType<typeof startListening>>;
let folder: string;

beforeAll(async () => {
  service = await startListening();
  service.seed({ escrows: [sampleEscrow()], merchants: [sampleMerchant()] });
  folder = await mkdtemp(join(tmpdir(), "clients-"));
  const document = await fetch(`${service.url}/openapi.json`);
  await Bun.write(join(folder, "openapi.json"), await document.text());
  await Bun.write(join(folder, "request.json"), JSON.stringify(prepareRequestExample()));
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

/** Runs a program to its end and gives what it printed. @throws Error with that, where it failed. */
const run = async (
  cwd: string,
  command: ReadonlyArray<string | null>,
  env: Readonly<Record<string, string>> = {},
): Promise<string> => {
  const words = command.map((word) => word ?? "");
  const child = Bun.spawn(words, {
    cwd,
    env: { ...process.env, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(`${words.join(" ")} ended with ${code}:\n${out}\n${err}`);
  return out + err;
};

/** A folder for one language, with these files of `callers` under these names. */
const placeOf = async (language: Language, files: Readonly<Record<string, string>>) => {
  const place = join(folder, language);
  await mkdir(place);
  for (const [from, to] of Object.entries(files)) await cp(join(CALLERS, from), join(place, to));
  return place;
};

const input = (): ReadonlyArray<string> => [
  service.url,
  join(folder, "request.json"),
  sampleEscrow().address,
  sampleParties().agent,
];

/** What each client prints: the escrow that was prepared, the state of the one that was read, the problem's code. */
const expected = () => ({
  prepared: sampleEscrow().address,
  state: "Fulfilled",
  code: "escrow_not_found",
});

const printed = (text: string): unknown => JSON.parse(text.trim().split("\n").at(-1) ?? "");

/** A test of one language; without its tools it is skipped, and its name says which are absent. */
const client = (language: Language, work: () => Promise<void>): void => {
  const missing = missingFor(language);
  const title = missing.length === 0 ? language : `${language} (not here: ${missing.join(", ")})`;
  test.skipIf(missing.length > 0)(`a generated client calls the service: ${title}`, work, 600_000);
};

client("typescript", async () => {
  const place = await placeOf("typescript", { "call.ts.txt": "call.ts" });
  await run(place, [TOOLS.typescript["openapi-typescript"], "../openapi.json", "-o", "api.ts"]);
  const types = join(import.meta.dir, "../../node_modules/@types");
  const options = ["--noEmit", "--strict", "--module", "esnext", "--moduleResolution", "bundler"];
  const libraries = ["--target", "esnext", "--typeRoots", types, "--types", "bun"];
  await run(place, [TSC, ...options, ...libraries, "--skipLibCheck", "call.ts"]);
  const text = await run(place, [process.execPath, "call.ts", ...input()]);
  expect(printed(text)).toEqual(expected());
});

client("python", async () => {
  const place = await placeOf("python", { "call.py": "call.py" });
  const generator = TOOLS.python["openapi-python-client"];
  const flags = ["--meta", "none", "--output-path", "evidence_api"];
  const said = await run(place, [generator, "generate", "--path", "../openapi.json", ...flags]);
  // It leaves out what it cannot express, and says so: an image, and what witnesses speak, whose bodies C2SP
  // tlog-witness makes text.
  expect(said.match(/^WARNING .*$/gm) ?? []).toEqual([
    "WARNING parsing GET /icon.svg within wallets.",
    "WARNING parsing POST /witness/add-checkpoint within log. Endpoint will not be generated.",
  ]);
  const text = await run(place, [TOOLS.python.python3, "call.py", ...input()]);
  expect(printed(text)).toEqual(expected());
});

client("go", async () => {
  const place = await placeOf("go", { "main.go.txt": "main.go" });
  await mkdir(join(place, "api"));
  const output = ["-package", "api", "-o", "api/api.go"];
  await run(place, [TOOLS.go["oapi-codegen"], ...output, "../openapi.json"]);
  await run(place, [TOOLS.go.go, "mod", "init", "callers"]);
  await run(place, [TOOLS.go.go, "mod", "tidy"]);
  await run(place, [TOOLS.go.go, "build", "-o", "call", "."]);
  const text = await run(place, [join(place, "call"), ...input()]);
  expect(printed(text)).toEqual(expected());
});

client("java", async () => {
  const place = await placeOf("java", {});
  const flags = ["-g", "java", "--library", "native", "-i", "../openapi.json", "-o", "."];
  await run(place, [TOOLS.java["openapi-generator-cli"], "generate", ...flags]);
  await cp(join(CALLERS, "Call.java"), join(place, "src/main/java/Call.java"));
  const goals = ["compile", "dependency:copy-dependencies"];
  await run(place, [TOOLS.java.mvn, "-q", "-B", "-DskipTests", ...goals]);
  const classes = "target/classes:target/dependency/*";
  const text = await run(place, [TOOLS.java.java, "-cp", classes, "Call", ...input()]);
  expect(printed(text)).toEqual(expected());
});

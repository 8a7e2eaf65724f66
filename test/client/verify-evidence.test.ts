import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const VECTORS = join(import.meta.dir, "../vectors/evidence");

/** A program of another project: it imports the bundle and prints two verdicts and a fault. */
const PROGRAM = `
import { readFileSync } from "node:fs";
import { freshTiles, parseTrustPolicy, verifyEvidence } from "./client.js";
const read = (name) => readFileSync(process.argv[2] + "/" + name, "utf8");
const trust = parseTrustPolicy(read("trust.json")).value;
const golden = verifyEvidence(read("fulfilled.json"), trust);
const wrong = JSON.parse(read("rejecting.json")).find(({ name }) => name === process.argv[3]);
const [logged] = JSON.parse(read("log-packets.json"));
const refused = verifyEvidence(wrong.packet, trust);
const failed = ({ checks }) =>
  checks.filter(({ outcome }) => outcome === "failed").map(({ name }) => name);
console.log(JSON.stringify({
  golden: [golden.verdict, failed(golden)],
  refused: [refused.verdict, failed(refused)],
  without: verifyEvidence(read("fulfilled.json"), null).verdict,
  fault: parseTrustPolicy("{}").fault,
  witnessed: verifyEvidence(logged.packet, parseTrustPolicy(read("log-trust.json")).value)
    .checks.filter(({ outcome }) => outcome === "witnessed").map(({ name }) => name),
  tiles: freshTiles(logged.packet, JSON.parse(logged.packet).references.log.proof),
}));
`;

const node = Bun.which("node");
let directory: string;
let bundle: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "client-"));
  const built = await Bun.build({
    entrypoints: [fileURLToPath(import.meta.resolve("settlement-evidence/verify"))],
    target: "browser",
  });
  bundle = (await built.outputs[0]?.text()) ?? "";
});

afterAll(() => rm(directory, { recursive: true }));

test("the client's bundle for browsers has no imports", () => {
  const { imports, exports } = new Bun.Transpiler({ loader: "js" }).scan(bundle);
  expect(imports).toEqual([]);
  expect(exports.sort()).toEqual([
    "freshTiles",
    "parseTrustPolicy",
    "verifyCall",
    "verifyEquivocation",
    "verifyEvidence",
  ]);
});

test.skipIf(node === null)("in Node it verifies a packet and refuses a wrong one", async () => {
  await Bun.write(join(directory, "package.json"), '{"type":"module"}');
  await Bun.write(join(directory, "client.js"), bundle);
  await Bun.write(join(directory, "main.js"), PROGRAM);
  const vectors = (await Bun.file(join(VECTORS, "rejecting.json")).json()) as ReadonlyArray<{
    readonly name: string;
    readonly packet?: string;
    readonly failed_checks: ReadonlyArray<string>;
  }>;
  const wrong = vectors.find(
    ({ packet, failed_checks }) => packet !== undefined && failed_checks[0] === "service_signature",
  );
  const run = Bun.spawn(
    [node ?? "", join(directory, "main.js"), VECTORS, wrong?.name ?? "none found"],
    { stdout: "pipe", stderr: "inherit" },
  );
  expect(await new Response(run.stdout).json()).toEqual({
    golden: ["verified", []],
    refused: ["failed", wrong?.failed_checks],
    without: "untrusted",
    fault: "the trust policy lacks version",
    witnessed: ["account_on_ledger", "attestor_is_the_merchants"],
    tiles: [],
  });
  expect(await run.exited).toBe(0);
});

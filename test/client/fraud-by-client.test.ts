import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { main } from "../../client/command-line/main.ts";
import { temporaryDirectory } from "../app/support/running-service.ts";
import { runHere } from "../app/support/run-here.ts";
import { checkpointNote, LOG_KEY, treeOf } from "../conformance/evidence/log-world.ts";

const TRUST = join(import.meta.dir, "../vectors/evidence/log-trust.json");
const TRUE_TREE = treeOf(300, new Map());
const FALSE_TREE = treeOf(300, new Map([[7n, Uint8Array.of(1)]]));

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => {
  directory = await temporaryDirectory();
});
afterAll(async () => {
  await directory.remove();
});

const save = async (name: string, text: string): Promise<string> => {
  const path = join(directory.path, name);
  await Bun.write(path, text);
  return path;
};
const checkpointFile = (name: string, { size, root }: typeof TRUE_TREE) =>
  save(name, checkpointNote({ origin: LOG_KEY.key.name, size, root }, []));
const verify = (...args: ReadonlyArray<string>) => runHere((io) => main(["verify", ...args], io));

test("two checkpoints of one size make evidence that the package's own command verifies offline", async () => {
  const [one, other] = [
    await checkpointFile("one", TRUE_TREE),
    await checkpointFile("other", FALSE_TREE),
  ];
  const made = await verify("--fraud", one, other, "--trust", TRUST);
  expect(made).toMatchObject({ code: 0 });
  expect(made.stderr).toContain("two_roots: ");
  const file = await save("evidence.json", made.stdout);
  const checked = await verify("--fraud", file, "--trust", TRUST);
  expect(checked).toMatchObject({ code: 0, stderr: "" });
  expect(checked.stdout).toEndWith("\nverified\n");
  const asJson = await verify("--fraud", file, "--json");
  expect(asJson.code).toBe(2);
  expect(JSON.parse(asJson.stdout)).toMatchObject({ verdict: "untrusted", kind: "two_roots" });
});

test("no fraud in one checkpoint twice, and a wrong command line says what is missing", async () => {
  const one = await checkpointFile("one", TRUE_TREE);
  const none = await verify("--fraud", one, one, "--trust", TRUST);
  expect(none).toMatchObject({ code: 1, stdout: "" });
  expect(none.stderr).toContain("No fraud is shown by 2 checkpoints and 0 accounts");
  const untrusting = await verify("--fraud", one, one);
  expect(untrusting).toMatchObject({ code: 64, stdout: "" });
  expect(untrusting.stderr).toContain("--trust");
  for (const wrong of [[one, one], ["--fraud"], ["--fraud", one, one, one]])
    expect((await verify(...wrong, "--trust", TRUST)).code).toBe(64);
});

import { expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { runScript } from "../support/run-script.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

test.each([
  "app/commands/import-escrow.ts",
  "app/commands/verify.ts",
  "programs/build.ts",
  "test/adapters/http/proxy/run.ts",
  "test/adapters/postgres/run.ts",
  "test/bench/run.ts",
  "test/chaos/run.ts",
  "test/client/package/run.ts",
  "test/conformance/http-answers/record.ts",
  "test/examples/run.ts",
  "test/generated-clients/run.ts",
  "test/hostile-node/run.ts",
  "test/log/run.ts",
  "test/pays-once/main.ts",
  "test/programs/esbmc/run.ts",
  "test/sessions/main.ts",
])("%s refuses an unknown option in one line, shows its help, and starts nothing", async (file) => {
  const wrong = await runScript(ROOT + file, ["--bogus"]);
  expect(wrong).toEqual({
    code: 64,
    stdout: "",
    stderr: "Unknown option '--bogus'; see --help\n",
  });
  const help = await runScript(ROOT + file, ["--help"]);
  expect(help).toMatchObject({ code: 0, stderr: "" });
  expect(help.stdout).toContain("usage: bun run ");
});

test("cli lists every command of the service and of the package, and names them to who mistypes one", async () => {
  const { COMMANDS } = await import("../../../client/command-line/main.ts");
  const cli = `${ROOT}app/commands/cli.ts`;
  const help = await runScript(cli, ["--help"]);
  const wrong = await runScript(cli, ["verfy"]);
  expect(wrong).toMatchObject({ code: 64, stdout: "" });
  const listed = help.stdout
    .match(/^ {2}[a-z-]+(?:, [a-z-]+)*/gm)
    ?.flatMap((line) => line.trim().split(", "));
  expect(listed).toEqual(expect.arrayContaining(["backup", ...Object.keys(COMMANDS)]));
  expect(wrong.stderr).toBe(`There is no command verfy. Give one of ${listed?.join(", ")}.\n`);
});

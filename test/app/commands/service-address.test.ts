import { expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { runScript } from "../support/run-script.ts";
import { SILENT_ADDRESS } from "../support/silent-address.ts";

const COMMANDS = fileURLToPath(new URL("../../../app/commands/", import.meta.url));

const run = (name: string, env: Record<string, string>, ...args: ReadonlyArray<string>) =>
  runScript(`${COMMANDS}${name}.ts`, args, { env: { ...(process.env as typeof env), ...env } });

test.each(["demo", "sync", "rebuild-index"])(
  "%s names PORT when it is no port, and not the address that would follow",
  async (name) => {
    expect(await run(name, { PORT: "abc" })).toEqual({
      code: 64,
      stdout: "",
      stderr: 'PORT is "abc"; expected a whole number from 1 to 65535, or the option --service\n',
    });
    expect(await run(name, { PORT: "abc" }, "--help")).toMatchObject({ code: 0, stderr: "" });
  },
);

test("rebuild-index and sync ask the service of PORT, and say what to do when none is there", async () => {
  const url = SILENT_ADDRESS;
  const PORT = new URL(url).port;
  const said = `${url} does not answer; start the service or set --service\n`;
  expect(await run("rebuild-index", { PORT })).toEqual({ code: 69, stdout: "", stderr: said });
  expect(await run("sync", { PORT })).toEqual({ code: 69, stdout: "", stderr: said });
});

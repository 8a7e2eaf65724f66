import { expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { bundledScript } from "../support/bundled-script.ts";
import { quietEnvironment, temporaryDirectory } from "../support/running-service.ts";

const COMMAND = fileURLToPath(new URL("../../../app/commands/doctor.ts", import.meta.url));

const doctor = async (env: Readonly<Record<string, string>>) => {
  const child = Bun.spawn([process.execPath, await bundledScript(COMMAND)], { env });
  const [code, stdout] = await Promise.all([child.exited, new Response(child.stdout).text()]);
  return { code, lines: stdout.trim().split("\n") };
};

test("ends with 0 without problems and with 1 otherwise, one line per check", async () => {
  const directory = await temporaryDirectory();
  const env = quietEnvironment(directory.path);
  const [sound, faulty] = await Promise.all([doctor(env), doctor({ ...env, PORT: "http" })]);
  expect(sound.code).toBe(0);
  expect(sound.lines.every((line) => /^ok {7}\w+ +\S/.test(line))).toBe(true);
  expect(faulty.code).toBe(1);
  expect(faulty.lines.at(-1)).toBe(
    'problem  settings  PORT is "http"; expected a whole number from 0 to 65535',
  );
  await directory.remove();
});

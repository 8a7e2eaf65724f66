import { expect, test } from "bun:test";
import { languages } from "./languages.ts";

/** `go run` compiles, and puts its own line and its own exit code behind the program's. */
const direct = languages().filter(({ name, missing }) => name !== "Go" && missing === undefined);

test.each(direct.map((language) => [language.name, language] as const))(
  "each example in %s ends with one line that names the variable it lacks, and 64",
  async (_name, language) => {
    for (const command of [language.agent, language.merchant, language.passerBy]) {
      if (command === null) continue;
      const child = Bun.spawn([...command], {
        env: { PATH: process.env["PATH"] ?? "" },
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      });
      const [out, errors] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ]);
      expect([await child.exited, out]).toEqual([64, ""]);
      expect(errors).toMatch(/^[A-Z_]+ is missing\. Set it as examples\/README\.md says\.\n$/);
    }
  },
  60_000,
);

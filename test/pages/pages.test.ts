import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { environment, variables } from "../../app/config/environment.ts";
import { variableNames } from "../../app/config/variable-names.ts";
import { projectCommand } from "../../core/domain/project-command.ts";
import packageJson from "../../package.json" with { type: "json" };
import { generatedPages } from "./pages.ts";

const pages = await generatedPages();

test.each([...pages].map(([path, text]) => [basename(path), path, text]))(
  "%s is what it is made of; `bun run test:more pages` writes it",
  (_, path, text) => {
    expect(readFileSync(path, "utf8")).toBe(text);
  },
);

const docs = join(import.meta.dir, "../../docs");
const httpPage = readFileSync(join(docs, "http.md"), "utf8");

test("every operation of the contract has a command and its answer", () => {
  const vectors = join(import.meta.dir, "../vectors/http-answers/openapi.json");
  const { paths } = JSON.parse(readFileSync(vectors, "utf8")) as {
    paths: Record<string, Record<string, unknown>>;
  };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const sections = new Map(
    httpPage
      .split(/^### /m)
      .slice(1)
      .map((section) => [section.slice(0, section.indexOf("\n")), section]),
  );
  expect([...sections.keys()].toSorted()).toEqual(operations.toSorted());
  const answered = /\n {4}curl (?:'[^']*'|[^'\n])+\n {4}\S/;
  expect([...sections].filter(([, text]) => !answered.test(text)).map(([name]) => name)).toEqual(
    [],
  );
});

test("every variable of the service is in the table, with a meaning", () => {
  const documented = Object.values(variables).map(({ documented: { name } }) => name);
  expect(documented).toEqual([...variableNames(environment)]);
  expect(Object.values(variables).filter(({ documented: { about } }) => about === "")).toEqual([]);
});

const ROOT = join(import.meta.dir, "../..");
const commandsPage = readFileSync(join(docs, "commands.md"), "utf8");
const sectionOf = (name: string): string =>
  commandsPage.split(/^### /m).find((section) => section.startsWith(`${name}\n`)) ?? "";

/** What may follow `bun run`, and what may follow that, by name. */
const COMMANDS: Readonly<Record<string, ReadonlyArray<string> | null>> = {
  ...Object.fromEntries(Object.keys(packageJson.scripts).map((name) => [name, null])),
  cli: Array.from(
    commandsPage.matchAll(/^### (?:cli|settlement-evidence) (\S+)/gm),
    (m) => m[1] ?? "",
  ),
  "test:more": Array.from(sectionOf("test:more").matchAll(/^ {2}(\S+)/gm), (m) => m[1] ?? ""),
  check: Array.from(/The parts are (.*?);/.exec(sectionOf("check"))?.[1]?.split(", ") ?? []),
};

const TEXTS = [
  "{*,.ci/*,docs/*,examples/*,programs/*,tools/**/*}",
  "{core,ports,adapters,app,client,test}/**/*.{ts,md,html}",
].flatMap((pattern) => [...new Bun.Glob(pattern).scanSync({ cwd: ROOT, dot: true })]);

test("every command that a text, a help or a cure names is there", () => {
  const wrong = TEXTS.filter((file) => /(?:\.(?:ts|md|html|json)|run)$/.test(file)).flatMap(
    (file) =>
      Array.from(
        readFileSync(join(ROOT, file), "utf8").matchAll(
          /(?:\b(?:bun|bun@[\d.]+) run (?:--silent )?|\bprojectCommand\(["`])([a-z][\w:-]*)(?: ([a-z][\w-]*))?/g,
        ),
        ([command, name = "", sub]) => ({ command, name, sub }),
      )
        .filter(({ name, sub }) => {
          const subs = COMMANDS[name];
          const isNamed = sub === undefined || subs === null || subs?.includes(sub);
          return subs === undefined || !isNamed;
        })
        .map(({ command }) => `${file}: ${command}`),
  );
  expect(wrong).toEqual([]);
});

test("pages, problems and log lines name a command as a reader without Bun can paste it", () => {
  const npx = `npx bun@${packageJson.engines.bun}`;
  expect(projectCommand("demo")).toBe(`${npx} run demo`);
  for (const file of TEXTS.filter((name) => name === "README.md" || name.startsWith("docs/")))
    for (const [named] of readFileSync(join(ROOT, file), "utf8").matchAll(/npx bun@[\d.]*\d/g))
      expect([file, named]).toEqual([file, npx]);
  const lines = [...new Bun.Glob("{core,adapters/http}/**/*.ts").scanSync({ cwd: ROOT })]
    .filter((file) => basename(file) !== "project-command.ts")
    .flatMap((file) => readFileSync(join(ROOT, file), "utf8").split("\n"));
  const isComment = (line: string) => /^\s*(?:\/?\*|\/\/)/.test(line);
  expect(lines.filter((line) => /\bbun run\b/.test(line) && !isComment(line))).toEqual([]);
});

test("package.json has at most fifteen scripts, and each name of a list is in it", () => {
  expect(Object.keys(packageJson.scripts).length).toBeLessThanOrEqual(15);
  for (const subs of Object.values(COMMANDS))
    if (subs !== null) expect(subs.length).toBeGreaterThan(4);
});

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { environment, variables } from "../../app/config/environment.ts";
import { variableNames } from "../../app/config/variable-names.ts";
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

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { checkedClient, makeService } from "../support/service.ts";
import { PROBLEM_CODES } from "../../../../adapters/http/problems/problem-catalogue.ts";

describe("llms", () => {
  let service: Awaited<ReturnType<typeof makeService>>;

  let client: Awaited<ReturnType<typeof checkedClient>>;

  let text: string;

  beforeAll(async () => {
    service = await makeService();
    client = await checkedClient(service);
    text = await (await client.send("/llms.txt")).text();
  });

  afterAll(() => service.runtime.dispose());

  const linksIn = (markdown: string) =>
    Array.from(markdown.matchAll(/\]\(([^)\s]+)\)/g), ([, target = ""]) => target);

  test("it has the form of llmstxt.org: a title, a quotation, and sections of links", () => {
    const [title = "", empty, quotation = ""] = text.split("\n");
    expect([title.startsWith("# "), empty, quotation.startsWith("> ")]).toEqual([true, "", true]);
    expect(text.match(/^# /gm)).toHaveLength(1);
    const [, ...sections] = text.split(/^## .+$/m);
    expect(sections.length).toBeGreaterThan(2);
    for (const section of sections)
      for (const line of section.trim().split("\n"))
        expect(line).toMatch(/^- \[[^\]]+\]\(\/[^)]*\): .+\.$/);
    expect(text.length).toBeLessThan(6000);
  });

  test("every link answers 200 without headers, and a fragment names a heading there", async () => {
    const links = linksIn(text);
    expect(links.length).toBeGreaterThan(20);
    for (const link of links) {
      const [path = "", fragment] = link.split("#");
      const response = await client.send(path);
      expect([link, response.status]).toEqual([link, 200]);
      if (fragment === undefined) continue;
      const headings = (await response.text()).match(/^#+ .+$/gm) ?? [];
      expect(headings.map((line) => line.replace(/^#+ /, "").toLowerCase())).toContain(fragment);
    }
  });

  test("it is found from the descriptor, the versions and the root", async () => {
    for (const path of ["/.well-known/settlement-evidence.json", "/v1"]) {
      const found = await (await client.send(path)).text();
      for (const target of ["/llms.txt", "/arazzo.json"]) expect(found).toContain(`"${target}"`);
    }
    const markdown = { headers: { accept: "text/markdown" } };
    expect(await (await client.send("/", markdown)).text()).toBe(text);
  });
});

describe("markdown", () => {
  const DOCS = join(import.meta.dir, "../../../../docs");

  let service: Awaited<ReturnType<typeof makeService>>;

  let client: Awaited<ReturnType<typeof checkedClient>>;

  beforeAll(async () => {
    service = await makeService();
    client = await checkedClient(service);
  });

  afterAll(() => service.runtime.dispose());

  const markdown = { headers: { accept: "text/markdown" } };

  const pages = readdirSync(DOCS).filter((name) => name.endsWith(".md"));

  test.each(pages.map((name) => [name]))("docs/%s is served as it is", async (name) => {
    const response = await client.send(`/docs/${name}`);
    expect(response.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
    expect(await response.text()).toBe(readFileSync(join(DOCS, name), "utf8"));
  });

  test.each(["nothing.md", "protocol", "__proto__", "..%2fREADME.md"])(
    "there is no page %s",
    async (name) => {
      expect((await client.send(`/docs/${name}`)).status).toBe(404);
    },
  );

  test.each(PROBLEM_CODES.map((code) => [code]))(
    "the problem %s is the same Markdown by its path and by Accept",
    async (code) => {
      const file = await client.send(`/problems/${code}.md`);
      expect(file.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
      expect(await file.text()).toBe(
        await (await client.send(`/problems/${code}`, markdown)).text(),
      );
    },
  );

  test("the reference in Markdown has every operation of the contract, with its problems", async () => {
    const text = await (await client.send("/docs.md")).text();
    expect(await (await client.send("/docs", markdown)).text()).toBe(text);
    for (const { operationId, method, path, summary } of service.app.operations)
      expect(text).toContain(`### ${operationId}\n\n\`${method} ${path}\`\n\n${summary}. `);
    const named = new Set(Array.from(text.matchAll(/\/problems\/(\w+)\.md/g), ([, code]) => code));
    for (const code of named) expect(PROBLEM_CODES as ReadonlyArray<string>).toContain(code ?? "");
  });

  test.each(["/docs.md", "/docs/log.md", "/llms.txt", "/arazzo.json"])(
    "%s is not sent again to who has it",
    async (path) => {
      const etag = (await client.send(path)).headers.get("etag") ?? "";
      const again = await client.send(path, { headers: { "if-none-match": etag } });
      expect([again.status, await again.text()]).toEqual([304, ""]);
    },
  );
});

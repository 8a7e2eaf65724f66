import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { PROBLEM_CODES } from "../../../../adapters/http/problems/problem-catalogue.ts";
import { checkedClient, jsonOf, makeService } from "../support/service.ts";

let service: Awaited<ReturnType<typeof makeService>>;
let client: Awaited<ReturnType<typeof checkedClient>>;

beforeAll(async () => {
  service = await makeService();
  client = await checkedClient(service);
});
afterAll(() => service.runtime.dispose());

const html = { headers: { accept: "text/html" } };
const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

describe.each(["/", "/docs", "/problems/validation_failed"])("the page at %s", (path) => {
  test("allows only its own inline script and style", async () => {
    const response = await client.send(path, html);
    const policy = response.headers.get("content-security-policy") ?? "";
    const page = await response.text();
    expect(policy).toStartWith("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    for (const [tag, directive] of [
      ["script", "script-src"],
      ["style", "style-src"],
    ] as const) {
      const inline = [...page.matchAll(new RegExp(`<${tag}[^>]*>([^]*?)</${tag}>`, "g"))];
      for (const [, text = ""] of inline) expect(policy).toContain(`${directive} ${hashOf(text)}`);
    }
  });

  test("names no other host to load from, and no inline handler", async () => {
    const page = await (await client.send(path, html)).text();
    expect(page).not.toMatch(/(src|href)="(https?:)?\/\//);
    expect(page).not.toMatch(/\son[a-z]+=|style="|@import|url\(/);
    expect(page).toStartWith("<!doctype html>");
    expect(page).toContain('<html lang="en">');
  });
});

test("the reference page has every operation and every record of the document, without a script", async () => {
  const page = await (await client.send("/docs", html)).text();
  const { components } = await jsonOf<{
    readonly components: { readonly schemas: Readonly<Record<string, object>> };
  }>(await client.send("/openapi.json"));
  const ids = [
    ...service.app.operations.map(({ operationId }) => operationId),
    ...Object.keys(components.schemas).map((name) => `schema-${name}`),
  ];
  expect(ids.filter((id) => !page.includes(`<article id="${id}">`))).toEqual([]);
  expect(page).not.toContain("<script");
  const prepare = page.slice(page.indexOf('<article id="prepareEscrow">'));
  const [, article = ""] = /^([^]*?)<\/article>/.exec(prepare) ?? [];
  for (const code of ["task_required", "validation_failed", "payload_too_large", "rate_limited"])
    expect(article).toContain(`<a href="/problems/${code}"><code>${code}</code></a>`);
});

test.each(PROBLEM_CODES.map((code) => [code]))("the problem %s has its page", async (code) => {
  const page = await jsonOf<{ readonly explanation: string; readonly cure: string }>(
    await client.send(`/problems/${code}`),
  );
  expect(page.explanation.length).toBeGreaterThan(20);
  expect(page.cure.length).toBeGreaterThan(10);
  const markdown = await client.send(`/problems/${code}`, { headers: { accept: "text/markdown" } });
  expect(await markdown.text()).toContain(`code: \`${code}\``);
  expect(await (await client.send(`/problems/${code}`, html)).text()).toContain(code);
});

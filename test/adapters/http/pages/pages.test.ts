import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { PROBLEM_CODES } from "../../../../adapters/http/problems/problem-catalogue.ts";
import { checkedClient, jsonOf, makeService } from "../support/service.ts";
import { EVIDENCE_CHECKS } from "../../../../core/protocol/verification/verify-evidence.ts";

describe("pages", () => {
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
        for (const [, text = ""] of inline)
          expect(policy).toContain(`${directive} ${hashOf(text)}`);
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
    const markdown = await client.send(`/problems/${code}`, {
      headers: { accept: "text/markdown" },
    });
    expect(await markdown.text()).toContain(`code: \`${code}\``);
    expect(await (await client.send(`/problems/${code}`, html)).text()).toContain(code);
  });
});

describe("console verifier", () => {
  const PATH = "/console/verify.js";

  let service: Awaited<ReturnType<typeof makeService>>;

  let client: Awaited<ReturnType<typeof checkedClient>>;

  let page: Response;

  let script: Response;

  beforeAll(async () => {
    service = await makeService();
    client = await checkedClient(service);
    page = await client.send("/", { headers: { accept: "text/html" } });
    script = await client.send(PATH, { headers: { accept: "*/*" } });
  });

  afterAll(() => service.runtime.dispose());

  test("the console's verifier is one module that contains every check", async () => {
    const text = await script.clone().text();
    expect(script.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(script.headers.get("x-content-type-options")).toBe("nosniff");
    expect(new Bun.Transpiler({ loader: "js" }).scan(text).imports).toEqual([]);
    for (const check of EVIDENCE_CHECKS) expect(text).toContain(`"${check}"`);
  });

  test("a browser that has the module gets a 304", async () => {
    const etag = script.headers.get("etag") ?? "";
    for (const listed of [etag, "*"]) {
      const again = await client.send(PATH, { headers: { "if-none-match": listed } });
      expect([again.status, again.headers.get("etag"), await again.text()]).toEqual([
        304,
        etag,
        "",
      ]);
    }
  });

  test("the console may load it, from its own origin and from no other", async () => {
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(/; script-src 'sha256-[\w+/=]+' 'self';/);
    expect(policy).toContain("; connect-src 'self';");
    expect(await page.clone().text()).toContain(`import("${PATH}")`);
  });

  test("the page has each element that the verifier asks for, and says how little its own policy proves", async () => {
    const html = await page.clone().text();
    const offered = Array.from(html.matchAll(/\sid="(verify-[a-z-]+)"/g), ([, id]) => id);
    const asked = (await script.clone().text()).matchAll(/\("(verify-[a-z-]+)",/g);
    expect(new Set(Array.from(asked, ([, id]) => id))).toEqual(new Set(offered));
    expect(html.replaceAll(/\s+/g, " ")).toContain(
      "proves only that this service agrees with itself",
    );
  });
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { PROBLEM_CODES } from "../../../../adapters/http/problems/problem-catalogue.ts";
import { checkedClient, jsonOf, makeService } from "../support/service.ts";

describe("pages", () => {
  let service: Awaited<ReturnType<typeof makeService>>;

  let client: Awaited<ReturnType<typeof checkedClient>>;

  beforeAll(async () => {
    service = await makeService();
    client = await checkedClient(service);
  });

  afterAll(() => service.runtime.dispose());

  const html = { headers: { accept: "text/html" } };

  test.each(["/", "/docs", "/verify", "/prepare", "/problems/validation_failed"])(
    "the first view of %s, with what it loads and 300 bytes of headers each, is below 60 kB",
    async (path) => {
      const bytesOf = async (at: string): Promise<number> => {
        const headers = { accept: "text/html", "accept-encoding": "br" };
        const request = new Request(`http://localhost${at}`, { headers });
        return 300 + (await (await service.app.handle(request)).bytes()).length;
      };
      const page = await service.app.handle(new Request(`http://localhost${path}`, html));
      const named = (await page.text()).matchAll(/(?:src|href)="(\/assets\/[^"]+|\/icon.svg)"/g);
      const parts = await Promise.all(
        [path, ...Array.from(named, ([, at = ""]) => at)].map(bytesOf),
      );
      expect(parts.length).toBeGreaterThan(3);
      expect(parts.reduce((sum, each) => sum + each, 0)).toBeLessThan(60_000);
    },
  );

  describe.each(["/", "/docs", "/problems/validation_failed"])("the page at %s", (path) => {
    test("holds no script and no style, and loads those of its own service, which are there", async () => {
      const response = await client.send(path, html);
      const policy = response.headers.get("content-security-policy") ?? "";
      const page = await response.text();
      expect(policy).toStartWith("default-src 'none'");
      expect(policy).not.toMatch(/unsafe|\*|https?:|sha256/);
      expect(page).not.toMatch(/<style|<script[^>]*>[^<]/);
      const loaded = Array.from(page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g), ([, at]) => at);
      expect(loaded.length).toBeGreaterThan(1);
      for (const at of loaded) {
        const file = await service.app.handle(new Request(`http://localhost${at}`));
        expect([at, file.status]).toEqual([at, 200]);
        expect(file.headers.get("cache-control")).toContain("immutable");
      }
    });

    test("a browser that has it gets a 304 with the same policy, and fewer bytes with a coding", async () => {
      const coded = { ...html.headers, "accept-encoding": "br" };
      const page = await client.send(path, { headers: coded });
      const etag = page.headers.get("etag");
      if (etag === null) return;
      const again = await client.send(path, { headers: { ...coded, "if-none-match": etag } });
      expect([again.status, again.headers.get("content-security-policy")]).toEqual([
        304,
        page.headers.get("content-security-policy"),
      ]);
      expect(page.headers.get("content-encoding")).toBe("br");
    });

    test("names no other host to load from, and no inline handler", async () => {
      const page = await (await client.send(path, html)).text();
      expect(page).not.toMatch(/(src|href)="(https?:)?\/\//);
      expect(page).not.toMatch(/\son[a-z]+=|style="|@import|url\(/);
      expect(page).toStartWith("<!doctype html>");
      expect(page).toContain('<html lang="en">');
    });
  });

  test("the reference page has every operation and every record of the document", async () => {
    const page = await (await client.send("/docs", html)).text();
    const { components } = await jsonOf<{
      readonly components: { readonly schemas: Readonly<Record<string, object>> };
    }>(await client.send("/openapi.json"));
    const ids = [
      ...service.app.operations.map(({ operationId }) => operationId),
      ...Object.keys(components.schemas).map((name) => `schema-${name}`),
    ];
    expect(ids.filter((id) => !page.includes(`<article id="${id}">`))).toEqual([]);
    const prepare = page.slice(page.indexOf('<article id="prepareEscrow">'));
    const [, article = ""] = /^([^]*?)<\/article>/.exec(prepare) ?? [];
    const linkTo = (code: string): string => `<a href="/problems/${code}"><code>${code}</code></a>`;
    for (const code of ["task_required", "payload_too_large", "rate_limited"])
      expect(article).toContain(linkTo(code));
    // What every operation can answer with stands once.
    const [, shared = ""] = /<section id="problems">([^]*?)<\/section>/.exec(page) ?? [];
    expect([
      shared.includes(linkTo("validation_failed")),
      article.includes("validation_failed"),
    ]).toEqual([true, false]);
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

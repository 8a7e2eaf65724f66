import { afterAll, beforeAll, expect, test } from "bun:test";
import { EVIDENCE_CHECKS } from "../../../../core/protocol/verification/verify-evidence.ts";
import { checkedClient, makeService } from "../support/service.ts";

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
    expect([again.status, again.headers.get("etag"), await again.text()]).toEqual([304, etag, ""]);
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

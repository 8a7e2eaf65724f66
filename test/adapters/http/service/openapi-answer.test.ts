import { expect, test } from "bun:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { checkedClient, makeService, problemOf } from "../support/service.ts";
import { standing } from "../support/standing-service.ts";

const PATH = "/openapi.json";

const { service, client } = await standing();

const get = (path: string, headers: Record<string, string> = {}) =>
  service.app.handle(new Request(`http://localhost${path}`, { headers }));

// The page says the document's whole content.
const LONG = [[PATH], ["/docs"]];

test.each(LONG)(
  "%s is compressed with what the client accepts, and plain otherwise",
  async (path) => {
    const plain = await get(path);
    const text = await plain.text();
    const decoders = { br: brotliDecompressSync, gzip: gunzipSync };
    expect(plain.headers.get("content-encoding")).toBeNull();
    expect(plain.headers.get("vary")).toContain("accept-encoding");
    for (const [accepted, coding] of [
      ["br, gzip", "br"],
      ["gzip, br;q=0", "gzip"],
    ] as const) {
      const coded = await get(path, { "accept-encoding": accepted });
      expect(coded.headers.get("content-encoding")).toBe(coding);
      expect(coded.headers.get("vary")).toContain("accept-encoding");
      const bytes = await coded.bytes();
      expect(decoders[coding](bytes).toString()).toBe(text);
      expect(bytes.length).toBeLessThan(text.length / 4);
    }
  },
);

test.each(LONG)("each form of %s has a strong tag of its own, which answers 304", async (path) => {
  const tagOf = async (headers: Record<string, string>) =>
    (await get(path, headers)).headers.get("etag");
  const gzip = { "accept-encoding": "gzip" };
  const tags = [await tagOf({}), await tagOf(gzip)];
  expect(tags.map((tag) => /^"[A-Za-z0-9_-]{43}(-gzip)?"$/.test(tag ?? ""))).toEqual([true, true]);
  const [plain = "", coded = ""] = tags.map((tag) => tag ?? "");
  expect(plain).not.toBe(coded);
  const status = async (headers: Record<string, string>) =>
    (await client.send(path, { headers })).status;
  expect(await status({ "if-none-match": plain })).toBe(304);
  expect(await status({ ...gzip, "if-none-match": coded })).toBe(304);
  expect(await status({ "if-none-match": coded })).toBe(200);
  expect(await status({ "if-none-match": "*" })).toBe(304);
  const unchanged = await get(path, { ...gzip, "if-none-match": coded });
  expect([await unchanged.text(), unchanged.headers.get("etag")]).toEqual(["", coded]);
  // A browser takes the 304's headers in place of those it kept: another policy would bar the page's own style.
  const policyOf = ({ headers }: Response) => headers.get("content-security-policy");
  expect(policyOf(unchanged)).toBe(policyOf(await get(path, gzip)));
});

test("it counts against the budget of reads", async () => {
  const small = await makeService({ limit: 2 });
  const { send } = await checkedClient(small);
  await send("/v1");
  // Without earlier tests, the client has requested the document once.
  const answers = [await send(PATH), await send(PATH), await send(PATH)];
  expect(await problemOf(answers[2] ?? Response.error())).toBe("429 rate_limited");
  await small.runtime.dispose();
});

import { afterAll, beforeAll, expect, test } from "bun:test";
import { checkedClient, makeService } from "../support/service.ts";

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

import { afterAll, beforeAll, expect, test } from "bun:test";
import { LOG_HINDRANCES } from "../../../../core/use-cases/log/log-standing.ts";
import { PUBLISHER_STATES } from "../../../../core/use-cases/log/log-publisher.ts";
import { checkedClient, makeService } from "../support/service.ts";

let service: Awaited<ReturnType<typeof makeService>>;
let html: string;

beforeAll(async () => {
  service = await makeService();
  const client = await checkedClient(service);
  html = await (await client.send("/", { headers: { accept: "text/html" } })).text();
});
afterAll(() => service.runtime.dispose());

type Node = FakeElement | string;

/** As much of an element as the console's script uses. */
class FakeElement {
  children: Array<Node> = [];
  readonly attributes = new Map<string, string>();

  setAttribute(name: string, value: string): void {
    this.attributes.set(name, value);
  }

  append(...children: ReadonlyArray<Node>): void {
    this.children.push(...children);
  }

  replaceChildren(...children: ReadonlyArray<Node>): void {
    this.children = [...children];
  }

  get textContent(): string {
    return this.children
      .map((child) => (typeof child === "string" ? child : child.textContent))
      .join(" ");
  }
}

const NEVER_LOADED = 'import("/console/verify.js")';

/** Runs the page's script on a status whose `log` is given, and says what the elements of the page show. */
const shownFor = async (log: object | null) => {
  const [, script = ""] = /<script type="module">([^]*?)<\/script>/.exec(html) ?? [];
  expect(script).toContain(NEVER_LOADED);
  const ids = Array.from(html.matchAll(/\sid="([a-z-]+)"/g), ([, id = ""]) => id);
  const elements = new Map(ids.map((id) => [id, new FakeElement()]));
  const document = {
    getElementById: (id: string) => elements.get(id) ?? null,
    createElement: () => new FakeElement(),
    visibilityState: "hidden",
  };
  const fetch = async (path: string): Promise<Response> => {
    const answer = await service.app.handle(new Request(`http://localhost${path}`));
    if (path !== "/v1/status") return answer;
    const { data } = (await answer.json()) as { readonly data: object };
    return Response.json({ data: { ...data, log } });
  };
  const run = Object.getPrototypeOf(async () => {}).constructor as new (
    ...parts: ReadonlyArray<string>
  ) => (...args: ReadonlyArray<unknown>) => Promise<void>;
  const body = script.replace(NEVER_LOADED, "Promise.resolve()");
  await new run("document", "fetch", "setInterval", body)(document, fetch, () => 0);
  const textOf = (id: string) => elements.get(id)?.textContent ?? "";
  return { textOf, elements };
};

const LOG = {
  state: "publishing",
  origin: "log.example/log/0123456789abcdef/0",
  vkey: "log.example/log/0123456789abcdef/0+01234567+AQ",
  size: 12,
  root: "ab".repeat(32),
  published_size: 11,
  quorum: "quorum both wants 2 of [one.example, two.example]; signed: one.example, two.example",
  cosigned_at: "2026-11-22T09:00:00Z",
  hindrance: null,
  ended: null,
  predecessors: [],
  witnesses: [
    { name: "one.example", size: 11, nonsense: 0, last_problem: null },
    { name: "two.example", size: 0, nonsense: 3, last_problem: "no answer in ten seconds" },
  ],
};

test("the console shows how the log stands, its witnesses and their quorum", async () => {
  const { textOf } = await shownFor(LOG);
  expect(textOf("log-state")).toBe("The log is published.");
  const facts = textOf("log-facts");
  for (const fact of [
    `Origin ${LOG.origin}`,
    "Leaves signed 12",
    `Root ${LOG.root}`,
    "Leaves published 11",
    "Last cosigned 2026-11-22T09:00:00Z",
    `Quorum ${LOG.quorum}`,
    "one.example: cosigned size 11",
    "two.example: has cosigned nothing yet, now: no answer in ten seconds",
    `Key ${LOG.vkey}`,
  ])
    expect(facts).toContain(fact);
  expect(facts).not.toContain("undefined");
  expect(textOf("facts")).not.toContain("undefined");
});

test("what stays unproven follows the policy: a quorum, no witness, no log", async () => {
  const unproven = async (log: object | null) => (await shownFor(log)).textOf("log-unproven");
  expect(await unproven(LOG)).toContain(
    "is witnessed where log_on_ledger of your trust document names",
  );
  const alone = { ...LOG, quorum: null, cosigned_at: null, witnesses: [] };
  expect(await unproven(alone)).toContain("stays unproven");
  expect(await unproven(alone)).not.toContain("is witnessed");
  expect(await unproven(null)).toContain("Without a log");
});

test("a hindrance and an end are named with their cause", async () => {
  const hindered = await shownFor({ ...LOG, hindrance: "nodes_disagree" });
  expect(hindered.textOf("log-state")).toBe(
    "The log is published. A node shows another history than the index.",
  );
  const cause = "the ledger's events give another root at size 12 than was signed";
  const ended = await shownFor({ ...LOG, state: "ended", hindrance: "ended", ended: cause });
  expect(ended.textOf("log-state").trim()).toBe(
    `The log has ended: nothing more is signed for it. ${cause}`,
  );
  const none = await shownFor(null);
  expect(none.textOf("log-state")).toContain("publishes no log");
});

test("each state and each hindrance has its words", async () => {
  for (const state of PUBLISHER_STATES)
    expect((await shownFor({ ...LOG, state })).textOf("log-state")).not.toBe("");
  for (const hindrance of LOG_HINDRANCES.filter((each) => each !== "ended"))
    expect((await shownFor({ ...LOG, hindrance })).textOf("log-state")).not.toBe(
      "The log is published.",
    );
});

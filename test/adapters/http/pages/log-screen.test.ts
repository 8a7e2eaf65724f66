import { beforeAll, expect, test } from "bun:test";
import { Context, Effect } from "effect";
import fc from "fast-check";
import { climb } from "../../../../adapters/http/pages/log/leaf-path.ts";
import {
  HINDRANCE_SENTENCES,
  PUBLISHER_SENTENCES,
} from "../../../../adapters/http/pages/log/log-words.ts";
import { witnessTable } from "../../../../adapters/http/pages/log/log-witnesses.ts";
import { consoleSheet } from "../../../../adapters/http/pages/shell/browser-script.ts";
import { encodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import { hash32FromBytes } from "../../../../core/domain/hash32.ts";
import { inclusionPath } from "../../../../core/log/tree/tree-proofs.ts";
import { IndexSync } from "../../../../core/use-cases/index/sync/index-sync.ts";
import { LogPublisher, PUBLISHER_STATES } from "../../../../core/use-cases/log/log-publisher.ts";
import { LOG_HINDRANCES } from "../../../../core/use-cases/log/log-standing.ts";
import { SettlementLog } from "../../../../core/use-cases/log/serving/published-log.ts";
import { IndexReader } from "../../../../ports/index/index-reader.ts";
import { referencePath, referenceRoot } from "../../../core/log/support/reference-tree.ts";
import { escrow } from "../support/parties.ts";
import { dataOf, makeService } from "../support/service.ts";
import { standing } from "../support/standing-service.ts";

const BROWSER = "text/html,*/*;q=0.8";
const { service, client } = await standing(makeService({ logSigner: new Uint8Array(32).fill(21) }));
const { service: silent } = await standing();

/** Of a drawing's text, in its own units. */
const LABEL_SIZE = Number(/\.chart text \{[^}]*font-size: (\d+)px/.exec(consoleSheet())?.[1]);

const pageOf = async (path: string, of = service): Promise<string> =>
  await (
    await of.app.handle(new Request(`http://localhost${path}`, { headers: { accept: BROWSER } }))
  ).text();

const wordsOf = (page: string): string =>
  page
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/\s+/g, " ")
    .replaceAll("&#39;", "'");

beforeAll(async () => {
  service.runtime.runFork(Context.get(service.context, LogPublisher).run);
  service.seed({ escrows: [escrow("released", "Fulfilled"), escrow("pending")] });
  await service.runtime.runPromise(
    Effect.gen(function* () {
      yield* (yield* IndexSync).request;
      const { mark } = yield* (yield* IndexReader).summary;
      if (mark === null) throw new Error("the index has no mark");
      yield* (yield* LogPublisher).grown(mark);
      const { published } = yield* SettlementLog;
      while ((yield* published)?.checkpoint?.size !== Number(mark.count) + 1)
        yield* Effect.yieldNow;
    }),
  );
});

test("every hindrance and every state of the publisher has a sentence of its own", () => {
  const sentences = [
    ...LOG_HINDRANCES.map((name) => HINDRANCE_SENTENCES[name]),
    ...PUBLISHER_STATES.map((name) => PUBLISHER_SENTENCES[name]),
  ];
  for (const sentence of sentences) expect(sentence).toMatch(/^[A-Z].{20,}\.$/);
  expect(new Set(sentences).size).toBe(LOG_HINDRANCES.length + PUBLISHER_STATES.length);
});

test("a leaf's parents are hashed up to the root of any tree", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.nat(), (size, at) => {
      const index = at % size;
      const leaves = Array.from({ length: size }, (_, number) => Uint8Array.of(number));
      const hashes = [...referencePath(index, leaves)];
      const path = inclusionPath(index, size).map(({ from, to }, step) => ({
        from,
        to,
        hash: hash32FromBytes(hashes[step] ?? new Uint8Array()),
      }));
      const leaf = encodeBase64(leaves[index] ?? new Uint8Array());
      const root = hash32FromBytes(referenceRoot(leaves));
      const climbed = climb({ index, leaf, path });
      expect(climbed?.root).toBe(root);
      expect(climbed?.steps.at(-1)?.parent ?? climbed?.start).toBe(root);
      expect(climb({ index, leaf: encodeBase64(Uint8Array.of(99)), path })?.root).not.toBe(root);
    }),
    { verbose: true },
  );
});

test("each leaf is answered with its event and its proof, and drawn up to the published root", async () => {
  for (const index of [0, 1, 2, 3]) {
    const leaf = await dataOf<{
      readonly event: { readonly position: number; readonly leaf_hash: string } | null;
      readonly leaf_hash: string;
      readonly path: ReadonlyArray<unknown>;
    }>(await client.send(`/v1/log/leaves/${index}`));
    expect(leaf.path).toHaveLength(2);
    expect(leaf.event).toEqual(
      index === 0 ? null : expect.objectContaining({ position: index, leaf_hash: leaf.leaf_hash }),
    );
    const page = await pageOf(`/log?leaf=${index}`);
    expect(wordsOf(page)).toContain("the log holds this leaf");
    expect(page).toContain(`aria-label="The way from leaf ${index} up to the root in 2 steps`);
    if (index > 0) expect(page).toContain('href="/escrows/');
  }
});

test("the page says how the log stands and that the ledger has its root", async () => {
  const words = wordsOf(await pageOf("/log"));
  expect(words).toContain(PUBLISHER_SENTENCES.publishing);
  expect(words).toContain("is the one that the custody program keeps on the ledger");
  expect(words).toContain("4 leaves");
  expect(words).toContain("The log has no witnesses");
});

test.each([
  ["4", "Leaf 4 is not among the 4 leaves of the published log"],
  ["x", "validation_failed"],
  ["01", "validation_failed"],
  ["<b>", "&lt;b&gt;"],
])("a look-up of %s says why there is nothing", async (asked, words) => {
  const page = await pageOf(`/log?leaf=${encodeURIComponent(asked)}`);
  expect(page).toContain(words);
  expect(page).not.toContain("<b>");
});

test("a service without a log says so, and a look-up in it too", async () => {
  expect(wordsOf(await pageOf("/log", silent))).toContain("publishes no log");
  expect(wordsOf(await pageOf("/log?leaf=1", silent))).toContain(
    "published no checkpoint of a settlement log",
  );
});

test("a hostile witness's words are text", () => {
  const { text } = witnessTable(
    {
      witnesses: [{ name: "<i>w</i>", size: 3, nonsense: 0, last_problem: "<script>" }],
      missing_witnesses: ["<i>w</i>"],
    },
    null,
    null,
    0,
  );
  expect(text).toContain("&lt;i&gt;w&lt;/i&gt;");
  expect(text).toContain("&lt;script&gt;");
  expect(text).toContain("missing");
});

test("the service's own witnesses are called so, and no other is", () => {
  const own = "It is this service's own";
  const words = ["own-1", "w.example"].map((name) => {
    const witnesses = [{ name, size: 3, nonsense: 0, last_problem: null }];
    return wordsOf(witnessTable({ witnesses, missing_witnesses: [] }, null, null, 0).text);
  });
  expect(words[0]).toContain(own);
  expect(words[1]).not.toContain(own);
});

test("a leaf's event is not told as a list, and no label of its drawing touches a node", async () => {
  const page = await pageOf("/log?leaf=2");
  expect(wordsOf(page)).not.toContain("newest first");
  const nodes = [...page.matchAll(/y="(\d+)"\s+width="\d+"\s+height="(\d+)"/g)];
  const labels = [...page.matchAll(/<text x="\d+" y="(\d+)"/g)].map(([, y]) => Number(y));
  expect(nodes.length).toBe(5);
  expect(labels.length).toBe(nodes.length);
  for (const [at, [, y, height]] of nodes.entries())
    expect((labels[at] ?? 0) - Number(y) - Number(height)).toBeGreaterThanOrEqual(LABEL_SIZE);
});

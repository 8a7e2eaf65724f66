/** What a new part of the project begins as. */
export type Skeleton = {
  /** By path from the root. */
  readonly files: Readonly<Record<string, string>>;
  /** The steps that are left, in order. Each ends with the command that shows that it is done. */
  readonly next: ReadonlyArray<string>;
};

/** Why a name cannot be used, with the cure. */
export class NameRefused extends Error {
  override readonly name = "NameRefused";
}

/** `list-mints` as `listMints`. */
const camel = (kebab: string): string =>
  kebab.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

/** `list-mints` as `ListMints`. */
const pascal = (kebab: string): string =>
  camel(kebab).replace(/^\w/, (letter) => letter.toUpperCase());

const FOLDER = "core/domain/evidence/proof-templates";

/**
 * A proof template with the fields that every one has. The test that fails is there already: it holds the folder
 * against the catalogue.
 * @throws NameRefused unless the name ends with a version, `-v1`.
 */
export const templateSkeleton = (name: string): Skeleton => {
  if (!/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*-v[1-9]\d*$/.test(name))
    throw new NameRefused(
      `${name} is no id of a template; write small letters, hyphens and a version, such as parcel-delivered-v1`,
    );
  const template = {
    id: name,
    wedge: "commerce",
    category: "commerce",
    title: "TO WRITE: what was delivered",
    description: "The merchant states that TO WRITE.",
    fields: [
      {
        name: "proof_template_id",
        type: "constant",
        required: true,
        value: name,
        description: "Names this template.",
      },
      {
        name: "task_hash",
        type: "hash",
        required: true,
        description: "The escrow's task hash: ties the proof to what was paid for.",
      },
      {
        name: "delivered_at",
        type: "time",
        required: true,
        description: "When it was handed over, RFC 3339 UTC.",
      },
    ],
    example: {
      proof_template_id: name,
      task_hash: "4c06b1c97212b6a6b9ad115861aab8f14e290a9442dfc2ee4968c7fca0cb6264",
      delivered_at: "2026-01-15T10:00:00Z",
    },
  };
  return {
    files: { [`${FOLDER}/${name}.json`]: `${JSON.stringify(template, null, 2)}\n` },
    next: [
      `${FOLDER}/${name}.json: wedge, category, title, description, fields and an example; every TO WRITE`,
      `core/domain/evidence/proof-template.ts: an import (${camel(name)}) and a line; bun test test/core/domain/evidence/proof-template.test.ts passes`,
      "bun run test:more record-answers, and read the difference: only the new template may be in it",
    ],
  };
};

/**
 * An adapter of the index, every method of which fails, and its test: the port's contract suite.
 * @throws NameRefused unless the name is one lower-case word or several with hyphens between.
 */
export const storeSkeleton = (name: string): Skeleton => {
  if (!/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(name))
    throw new NameRefused(
      `${name} is no name of a store; write a folder's name in small letters, such as duckdb`,
    );
  const layer = `index${pascal(name)}`;
  const adapter = `import { Context, Effect, Layer } from "effect";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import { IndexReader } from "../../ports/index/index-reader.ts";
import { IndexWriter } from "../../ports/index/index-writer.ts";
import { LogStore } from "../../ports/log/log-store.ts";
import { StoreUnavailable } from "../../ports/index/store-refusal.ts";

/** The ledger and programs whose rows a store holds. */
type LedgerIdentity = { readonly genesisHash: string; readonly deployment: Deployment };

const toWrite = (method: string) =>
  Effect.fail(
    new StoreUnavailable({
      retryable: false,
      cause: new Error(\`\${method} is still to be written\`),
    }),
  );

/** The index and the log's store in ${name}. */
export const ${layer} = (
  _ledger: LedgerIdentity,
): Layer.Layer<IndexReader | IndexWriter | LogStore> =>
  Layer.succeedContext(
    Context.make(IndexReader, {
      escrows: () => toWrite("escrows"),
      escrowsAt: () => toWrite("escrowsAt"),
      escrowsOfHash: () => toWrite("escrowsOfHash"),
      events: () => toWrite("events"),
      merchants: () => toWrite("merchants"),
      sameNames: () => toWrite("sameNames"),
      summary: toWrite("summary"),
    }).pipe(
      Context.add(IndexWriter, {
        apply: () => toWrite("apply"),
        merchantsAt: () => toWrite("merchantsAt"),
        unseen: () => toWrite("unseen"),
        build: toWrite("build"),
      }),
      Context.add(LogStore, {
        leaves: () => toWrite("leaves"),
        tile: () => toWrite("tile"),
        keepTiles: () => toWrite("keepTiles"),
        standing: toWrite("standing"),
        isWriter: toWrite("isWriter"),
        replaceStanding: () => toWrite("replaceStanding"),
      }),
    ),
  );
`;
  const test = `import { ${layer} } from "../../../adapters/${name}/index-store.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../../arbitraries/test-ledger.ts";
import { indexStoreContract } from "../../contracts/index-store.ts";

indexStoreContract(
  "${layer}",
  () => ${layer}({ genesisHash: TEST_GENESIS_HASH, deployment: TEST_DEPLOYMENT }),
  40,
);
`;
  return {
    files: {
      [`adapters/${name}/index-store.ts`]: adapter,
      [`test/adapters/${name}/index-store.test.ts`]: test,
    },
    next: [
      `adapters/${name}/index-store.ts: every method, as ports/index/index-reader.ts, index-writer.ts and log-store.ts say; bun test test/adapters/${name} passes`,
      "the store of another ledger or another version is refused with the errors of ports/index/store-refusal.ts",
      `adapters/${name}/outcome-log.ts with test/contracts/outcome-log.ts, and settled-packets.ts with its contract, in the same way`,
      "app/config/environment.ts and settings.ts: the setting that chooses it, with a test in test/app/settings.test.ts; docs/settings.md is written anew",
      "app/stores/storage.ts: the choice; a Storage that lacks a part does not compile",
      "app/doctor/check-store.ts: what bun run doctor says of it, without writing into it; bun run check and bun run test pass",
    ],
  };
};

const TAGS: Readonly<Record<string, string>> = {
  escrow: "Escrows",
  merchant: "Merchants",
  evidence: "Evidence",
  relay: "Relay",
  index: "Index",
  service: "Service",
};

/**
 * A `GET` operation with its record and its contract test, which fails until the operation is served.
 * @throws NameRefused unless the name is `SUBJECT/VERB-NOUN`.
 */
export const endpointSkeleton = (name: string): Skeleton => {
  const subjects = Object.keys(TAGS).join(", ");
  const [, room = "", verb = "", noun = ""] =
    /^([a-z]+)\/([a-z]+)-([a-z][a-z0-9]*(?:-[a-z0-9]+)*)$/.exec(name) ?? [];
  const tag = TAGS[room];
  if (tag === undefined)
    throw new NameRefused(
      `${name} is no name of an endpoint; write SUBJECT/VERB-NOUN such as service/list-mints, SUBJECT being one of ${subjects}`,
    );
  const id = camel(`${verb}-${noun}`);
  const type = pascal(noun);
  const path = `/v1/${noun}`;
  const folder = `adapters/http/${room}`;
  const file = `${verb}-${noun}`;
  const contract = `import { type Static, Type } from "@sinclair/typebox";
import { record } from "../openapi/values.ts";

/** What \`GET ${path}\` answers. */
export const ${type} = record("${type}", "TO WRITE: what this record is.", {
  title: Type.String({ description: "TO WRITE: what this member says." }),
});

/** The record as JSON. */
export const ${camel(noun)}Record = (title: string): Static<typeof ${type}> => ({ title });

/** The record as answers show it. */
export const ${camel(noun)}Example = () => ${camel(noun)}Record("${noun}");
`;
  const route = `import { Effect } from "effect";
import { data } from "../openapi/envelopes.ts";
import { endpoint } from "../server/endpoint.ts";
import { ${type}, ${camel(noun)}Example, ${camel(noun)}Record } from "./${noun}-contract.ts";

/** \`GET ${path}\` */
export const ${id}Endpoint = endpoint({
  method: "GET",
  path: "${path}",
  operationId: "${id}",
  tag: "${tag}",
  summary: "TO WRITE: what it does, in a few words",
  description: "TO WRITE: what a caller has to know.",
  budget: "reads",
  answers: {
    200: {
      description: "TO WRITE: what is answered.",
      content: {
        "application/json": {
          schema: data(${type}),
          example: () => ({ data: ${camel(noun)}Example() }),
        },
      },
    },
  },
  problems: [],
}).handle(() => Effect.succeed({ json: { data: ${camel(noun)}Record("${noun}") } }));
`;
  const test = `import { afterAll, beforeAll, expect, test } from "bun:test";
import { checkedClient, makeService } from "../support/service.ts";

let service: Awaited<ReturnType<typeof makeService>>;
let client: Awaited<ReturnType<typeof checkedClient>>;

beforeAll(async () => {
  service = await makeService();
  client = await checkedClient(service);
});
afterAll(() => service.runtime.dispose());

test("${id} is served, and answers what its contract says", async () => {
  const document = await (await client.send("/openapi.json")).text();
  expect(
    document.includes('"${id}"'),
    "${id} is not served: name ${id}Endpoint in adapters/http/server/endpoints.ts",
  ).toBe(true);
  expect((await client.send("${path}")).status).toBe(200);
  expect(document, "a text of ${id} is still to be written").not.toContain("TO WRITE");
});
`;
  return {
    files: {
      [`${folder}/${noun}-contract.ts`]: contract,
      [`${folder}/${file}.ts`]: route,
      [`test/${folder}/${file}.test.ts`]: test,
    },
    next: [
      `${folder}/${noun}-contract.ts: the record's members, and their mapping from the core; every TO WRITE`,
      `${folder}/${file}.ts: path, parameters, problems and the use case in core/use-cases/${room}`,
      `adapters/http/server/endpoints.ts: an import and a line; bun test test/${folder}/${file}.test.ts passes`,
      "test/conformance/http-answers/exchanges/samples.ts: a good request; bun run test:more record-answers, and read the difference",
    ],
  };
};

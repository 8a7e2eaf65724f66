import { camel, NameRefused, pascal, type Skeleton } from "./skeleton.ts";

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

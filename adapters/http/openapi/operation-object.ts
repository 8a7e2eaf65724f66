import type { TSchema } from "@sinclair/typebox";
import { BYTES_A_POINT } from "../request/request-body.ts";
import { type Endpoint, maxBodyBytes, problemsOf, type Success } from "../server/endpoint.ts";
import {
  PROBLEM_CATALOGUE,
  PROBLEM_CODES,
  type ProblemCode,
} from "../problems/problem-catalogue.ts";
import { PROBLEM_MEDIA_TYPE } from "../problems/problem.ts";
import { Problem, problemExample } from "../problems/problem-contract.ts";

type Json = Record<string, unknown>;

/** An example that is computed when the document is written, not when the routes are made. */
const later = (example: () => unknown) => ({ toJSON: example });

const header = (description: string): Json => ({ description, schema: { type: "string" } });

/** Headers that many answers share, by their name. */
const SHARED_HEADERS = {
  "x-request-id": header(
    "The request's id: the caller's own when it has 1 to 36 of A-Z, a-z, 0-9, `.`, `_` and `-`, otherwise a new UUID.",
  ),
  ratelimit: header("What is left of the client's budget: `r` points for `t` seconds."),
  "ratelimit-policy": header(
    `The client's budget: \`q\` points in \`w\` seconds. A request costs one point, plus one for each further ${BYTES_A_POINT} bytes or part of them in its body, at most \`q\`.`,
  ),
  "retry-after": header("Seconds to wait."),
  allow: header("The methods the path takes."),
  "x-action-version": header("The version of Solana Actions that the answer keeps to."),
  "x-blockchain-ids": header(
    "The ledger as CAIP-2 names it; left out while its genesis hash is not known.",
  ),
} as const;

const EVERYWHERE = ["x-request-id"] as const;
const LIMITED = ["ratelimit", "ratelimit-policy"] as const;
const FOR_WALLETS = ["x-action-version", "x-blockchain-ids"] as const;
const OF_STATUS: Readonly<Record<number, ReadonlyArray<keyof typeof SHARED_HEADERS>>> = {
  405: ["allow"],
  429: ["retry-after"],
  502: ["retry-after"],
  503: ["retry-after"],
  504: ["retry-after"],
};

const OF_CODE: { readonly [C in ProblemCode]?: ReadonlyArray<keyof typeof SHARED_HEADERS> } = {
  idempotency_key_in_flight: ["retry-after"],
  not_logged_yet: ["retry-after"],
  not_final_yet: ["retry-after"],
};

const headersOf = (
  operation: Endpoint,
  status: number,
  own: Readonly<Record<string, string>>,
  codes: ReadonlyArray<ProblemCode> = [],
) => {
  const shared = [
    ...EVERYWHERE,
    ...(operation.budget === null ? [] : LIMITED),
    ...(operation.forWallets === true ? FOR_WALLETS : []),
    ...(OF_STATUS[status] ?? []),
    ...codes.flatMap((code) => OF_CODE[code] ?? []),
  ];
  return Object.fromEntries([
    ...shared.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
    ...Object.entries(own).map(([name, text]) => [name, header(text)]),
  ]);
};

const successObject = (operation: Endpoint, status: number, success: Success): Json => {
  const content = Object.entries(success.content).map(([mediaType, { schema, example }]) => [
    mediaType,
    { schema, example: later(example) },
  ]);
  return {
    description: success.description,
    headers: headersOf(operation, status, success.headers ?? {}),
    ...(content.length === 0 ? {} : { content: Object.fromEntries(content) }),
  };
};

/** One response for all problems of a status. It lists their codes and has an example of each. */
const problemObject = (
  operation: Endpoint,
  status: number,
  codes: ReadonlyArray<ProblemCode>,
): Json => ({
  description: codes.map((code) => `\`${code}\`: ${PROBLEM_CATALOGUE[code].title}.`).join(" "),
  headers: headersOf(operation, status, {}, codes),
  content: {
    [PROBLEM_MEDIA_TYPE]: {
      schema: Problem,
      examples: Object.fromEntries(
        codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]),
      ),
    },
  },
});

/** The name of a response with one problem only, which all operations with the same headers share. */
const sharedNameOf = ({ budget, forWallets }: Endpoint, code: string): string =>
  `${code}${budget === null ? "_unlimited" : ""}${forWallets === true ? "_for_wallets" : ""}`;

/** What Bun itself answers to any request before the service sees it. The limits are those of Bun 1.4.5, as tried. */
const HEAD_TOO_LARGE = {
  name: "head_too_large",
  status: 431,
  response: {
    description:
      "The request line and the headers have more than 16,384 bytes, or there are more than 198 headers. This answer has no body, and the connection is closed.",
  },
};

/** A status that both an answer of the operation's own and problems have: the media type tells which it is. */
const bothObjects = (
  operation: Endpoint,
  status: number,
  answer: Success,
  codes: ReadonlyArray<ProblemCode>,
): Json => {
  const problem = problemObject(operation, status, codes);
  const own = successObject(operation, status, answer);
  return {
    ...problem,
    description: `${answer.description} ${String(problem["description"])}`,
    content: Object.assign({}, own["content"], problem["content"]),
  };
};

const problemsByStatus = (operation: Endpoint) =>
  [...Map.groupBy(problemsOf(operation), (code) => PROBLEM_CATALOGUE[code].status)].map(
    ([status, codes]) => {
      const [code = "", ...others] = codes;
      return {
        status,
        codes,
        sharedName: others.length > 0 ? null : sharedNameOf(operation, code),
      };
    },
  );

/** The shared components: headers, responses with one problem, and an example of each problem. */
export const sharedComponents = (operations: ReadonlyArray<Endpoint>): Json => ({
  headers: SHARED_HEADERS,
  responses: Object.fromEntries([
    [HEAD_TOO_LARGE.name, HEAD_TOO_LARGE.response],
    ...operations.flatMap((operation) =>
      problemsByStatus(operation).flatMap(({ status, codes, sharedName }) =>
        sharedName === null ? [] : [[sharedName, problemObject(operation, status, codes)]],
      ),
    ),
  ]),
  examples: Object.fromEntries(
    PROBLEM_CODES.map((code) => [
      code,
      { summary: PROBLEM_CATALOGUE[code].title, value: problemExample(code) },
    ]),
  ),
});

const parameterObjects = (
  location: "path" | "query" | "header",
  schemas: Readonly<Record<string, TSchema>>,
  required: ReadonlyArray<string>,
): ReadonlyArray<Json> =>
  Object.entries(schemas).map(([name, schema]) => {
    const { description, ...undescribed } = schema;
    return {
      name,
      in: location,
      required: required.includes(name),
      description,
      // Schemas with the same title are equal.
      schema: schema.title === undefined ? undescribed : schema,
    };
  });

/** The OpenAPI operation object of an endpoint, schemas still inline. */
export const operationObject = (operation: Endpoint): Json => {
  const problems = problemsByStatus(operation).map(({ status, codes, sharedName }) => {
    const declared = operation.answers[status];
    if (declared !== undefined)
      return [status, bothObjects(operation, status, declared, codes)] as const;
    const shared = { $ref: `#/components/responses/${sharedName}` };
    return [
      status,
      sharedName === null ? problemObject(operation, status, codes) : shared,
    ] as const;
  });
  const successes = Object.entries(operation.answers).map(([status, success]) => [
    status,
    successObject(operation, Number(status), success),
  ]);
  const parameters = [
    ...parameterObjects("path", operation.params, Object.keys(operation.params)),
    ...parameterObjects("query", operation.query.properties, operation.query.required ?? []),
    ...parameterObjects("header", operation.requestHeaders ?? {}, []),
  ];
  const { body, textBody } = operation;
  const bodyContent =
    body === undefined
      ? {
          "text/plain": { schema: { type: "string" }, example: later(textBody?.example ?? String) },
        }
      : { "application/json": { schema: body.schema, example: later(body.example) } };
  const limit = `At most ${maxBodyBytes(operation)} bytes.`;
  return {
    operationId: operation.operationId,
    tags: [operation.tag],
    summary: operation.summary,
    description: operation.description,
    security: [],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined && textBody === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            description: textBody === undefined ? limit : `${textBody.description} ${limit}`,
            "x-max-bytes": maxBodyBytes(operation),
            content: bodyContent,
          },
        }),
    responses: Object.fromEntries([
      ...successes,
      ...problems,
      [HEAD_TOO_LARGE.status, { $ref: `#/components/responses/${HEAD_TOO_LARGE.name}` }],
    ]),
  };
};

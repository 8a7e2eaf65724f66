import { type Static, type TObject, type TSchema, Type } from "@sinclair/typebox";
import { Effect } from "effect";
import type { Budget } from "../../../ports/rate-limiter.ts";
import type { AnswerOf, JsonOf, Undeclared } from "./declared-answer.ts";
import { MAX_BODY_BYTES } from "../request/request-body.ts";
import { type FieldFailure, type FieldOf, locatedIn } from "../request/request-fields.ts";
import type { HttpServices } from "./http-services.ts";
import type { ApiFailure, FailureOf } from "../problems/api-failure.ts";
import type { ProblemCode } from "../problems/problem-catalogue.ts";
import type { Opening } from "./response-headers.ts";

/** A response body as the OpenAPI document shows it. */
export type Content = { readonly schema: TSchema; readonly example: () => unknown };

/** One status that an operation answers with when it succeeds. */
export type Success = {
  readonly description: string;
  /** By media type, the preferred one first; empty for an answer without a body. */
  readonly content: Readonly<Record<string, Content>>;
  /** Response headers beside those of every answer, with their meaning. */
  readonly headers?: Readonly<Record<string, string>>;
};

/** What a handler answers. */
export type Answer = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
} & (
  | { readonly json: unknown }
  | { readonly jsonText: string }
  | { readonly codedJson: Uint8Array<ArrayBuffer> }
  | { readonly text: string | null }
  | { readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly stream: ReadableStream<Uint8Array> }
);

type Answers = Readonly<Record<number, Success>>;

/** The input of a handler, decoded and checked. */
type Input<Path extends string, Query extends TObject, Body> = {
  readonly params: Readonly<Record<PathParameter<Path>, string>>;
  readonly query: Static<Query>;
  readonly body: Body;
  /** The body of an operation that takes text; null for bytes that are not UTF-8, and without such a body. */
  readonly text: string | null;
  /** The offered media type that the caller prefers. */
  readonly mediaType: string;
  /** Scheme, host and port under which the caller reached the service. */
  readonly origin: () => string;
  /** The HTTPS origin that the operator configured, for links that a Host header must not change; null for none. */
  readonly publicUrl: string | null;
  readonly headers: Headers;
  /** The client's key in the rate limiter. */
  readonly client: () => string;
  /** Answers another request of this service, as if the same client had sent it. Never rejects. */
  readonly ask: (path: string, init: RequestInit) => Promise<Response>;
};

/** The names in braces of a path template. */
type PathParameter<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathParameter<Rest>
  : never;

/** The problems that any operation can answer with, those of POST, and those of operations with a body. */
const COMMON_PROBLEMS = [
  "malformed_host",
  "validation_failed",
  "method_not_allowed",
  "not_acceptable",
  "internal_error",
] as const satisfies ReadonlyArray<ProblemCode>;
const POST_PROBLEMS = ["payload_too_large"] as const satisfies ReadonlyArray<ProblemCode>;
const BODY_PROBLEMS = [
  "malformed_json",
  "unsupported_media_type",
] as const satisfies ReadonlyArray<ProblemCode>;

/** The declaration of one operation. Its route, its checks and the OpenAPI document are made from it. */
export type EndpointSpec<
  Path extends string,
  Query extends TObject,
  Body extends TObject,
  Declared extends Answers,
  Code extends ProblemCode,
  Placed extends string = string,
> = {
  readonly method: "GET" | "POST";
  /** OpenAPI's form: `/v1/escrows/{pda}`. */
  readonly path: Path;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  /** Which of a client's budgets a request counts against; null for none. */
  readonly budget: Budget | null;
  /** Whether pages of origins that are not listed may never call it, whatever its budget. */
  readonly listedOriginsOnly?: boolean;
  /** Seconds, up to 255, that the answer may take. Only needed above the idle limit of connections. */
  readonly maySeconds?: number;
  readonly params?: { readonly [Name in PathParameter<Path>]: TSchema };
  readonly query?: Query;
  /** A page for people, which no OpenAPI document names. */
  readonly isPage?: true;
  /**
   * Serves wallets as Solana Actions asks: pages of any origin, the specification's headers, and `message` in problems.
   */
  readonly forWallets?: true;
  /** Request headers with a meaning of their own, all optional; the handler checks them. */
  readonly requestHeaders?: Readonly<Record<string, TSchema>>;
  readonly body?: {
    readonly schema: Body;
    readonly example: () => Static<NoInfer<Body>>;
    /** A limit below the usual one, in bytes. */
    readonly maxBytes?: number;
  };
  /** Places, such as `/account`, of domain fields that no member of the request fills. */
  readonly places?: Readonly<Record<Placed, string>>;
  /** A body of text in place of JSON, of any media type. */
  readonly textBody?: { readonly description: string; readonly example: () => string };
  /** By status; the lowest is the usual one. */
  readonly answers: Declared;
  /** Problems beside the common ones; the handler can fail with no others. */
  readonly problems: ReadonlyArray<Code>;
};

/** An operation without its type parameters. */
export type Endpoint = Omit<
  EndpointSpec<string, TObject, TObject, Answers, ProblemCode>,
  "params" | "query"
> & {
  readonly params: Readonly<Record<string, TSchema>>;
  readonly query: TObject;
  readonly handle: (
    input: Input<string, TObject, unknown>,
  ) => Effect.Effect<Answer, ApiFailure, HttpServices>;
};

const NO_MEMBERS = Type.Object({}, { additionalProperties: false });

/**
 * Declares an operation; `handle` takes its handler and makes it an endpoint. The compiler holds the handler to the
 * declaration: it is given parameters, query and body of the types of their schemas, every failure must have its code
 * among `problems`, a field that a failure names must be filled by a member of the request or stand in `places`, and an
 * answer must be one of `answers`: a declared status, and JSON of its schema without any other member.
 */
export const endpoint = <
  const Path extends string,
  Query extends TObject = typeof NO_MEMBERS,
  Body extends TObject = typeof NO_MEMBERS,
  const Declared extends Answers = Answers,
  const Code extends ProblemCode = never,
  const Placed extends string = never,
>(
  spec: EndpointSpec<Path, Query, Body, Declared, Code, Placed>,
) => ({
  handle: <const Given extends AnswerOf<Declared>>(
    handle: (
      input: Input<Path, Query, Static<Body>>,
    ) => Effect.Effect<
      Given,
      | FailureOf<Code | (typeof COMMON_PROBLEMS)[number]>
      | FieldFailure<
          | FieldOf<PathParameter<Path> | keyof Query["properties"] | keyof Body["properties"]>
          | Placed,
          Code
        >,
      HttpServices
    >,
    ..._undeclared: Undeclared<JsonOf<Given>, JsonOf<AnswerOf<Declared>>> extends never
      ? []
      : [undeclared: Undeclared<JsonOf<Given>, JsonOf<AnswerOf<Declared>>>]
  ): Endpoint => {
    const { params = {}, query = NO_MEMBERS } = spec;
    const located = locatedIn(spec);
    const answer = (input: Input<Path, Query, Static<Body>>) =>
      Effect.mapError(handle(input), located);
    return { ...spec, params, query, handle: answer } as unknown as Endpoint;
  },
});

/** Every problem that an operation can answer with. */
export const problemsOf = (operation: Endpoint): ReadonlyArray<ProblemCode> => [
  ...new Set([
    ...operation.problems,
    ...COMMON_PROBLEMS,
    ...(operation.method === "POST" ? POST_PROBLEMS : []),
    ...(operation.body === undefined ? [] : BODY_PROBLEMS),
    ...(operation.budget === null ? [] : (["rate_limited"] as const)),
  ]),
];

/** The most bytes that the body of a request may have, whether the operation reads it or not. */
export const maxBodyBytes = ({ body }: Pick<Endpoint, "body">): number =>
  body?.maxBytes ?? MAX_BODY_BYTES;

/**
 * Whose pages may call an operation. `*` among the CORS origins opens reads and prepare operations, whatever their
 * method. Operations for wallets are open without it, as Solana Actions asks.
 */
export const openingOf = ({ method, budget, forWallets, listedOriginsOnly }: Endpoint): Opening => {
  if (forWallets === true) return "any";
  if (listedOriginsOnly === true) return "listed";
  return method === "GET" || budget === "prepare" || budget === "reads"
    ? "any_if_starred"
    : "listed";
};

/** A path template in the router's form: `/v1/escrows/{pda}` becomes `/v1/escrows/:pda`. */
export const routerPath = (template: string): string => template.replace(/\{([^}]+)\}/g, ":$1");

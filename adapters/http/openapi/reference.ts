import type { JsonText } from "../server/declared-answer.ts";
import type { OpenApiDocument } from "./openapi-document.ts";
import { PROBLEM_MEDIA_TYPE } from "../problems/problem.ts";

/** A schema of the document, as far as the reference shows it (JSON Schema 2020-12). */
export type Schema = {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string;
  readonly enum?: ReadonlyArray<string>;
  readonly const?: unknown;
  readonly anyOf?: ReadonlyArray<Schema>;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly required?: ReadonlyArray<string>;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly contentEncoding?: string;
  readonly default?: unknown;
  readonly examples?: ReadonlyArray<unknown>;
};

type Content = Readonly<
  Record<
    string,
    { readonly schema: Schema; readonly example?: unknown; readonly examples?: object }
  >
>;

type Header = { readonly description: string };

type Response = {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header | { readonly $ref: string }>>;
  readonly content?: Content;
};

type Declared = {
  readonly operationId: string;
  readonly tags: ReadonlyArray<string>;
  readonly summary: string;
  readonly description: string;
  readonly parameters?: ReadonlyArray<{
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly description?: string;
    readonly schema: Schema;
  }>;
  readonly requestBody?: { readonly description: string; readonly content: Content };
  readonly responses: Readonly<Record<string, Response | { readonly $ref: string }>>;
};

type Document = {
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description: string;
  };
  readonly tags: ReadonlyArray<{ readonly name: string; readonly description: string }>;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Declared>>>>;
  readonly components: {
    readonly headers: Readonly<Record<string, Header>>;
    readonly responses: Readonly<Record<string, Response>>;
    readonly schemas: Readonly<Record<string, Schema>>;
  };
};

/** A parameter, or a member of a record. */
export type Field = {
  readonly name: string;
  /** Where a request holds it; `member` in a record. */
  readonly place: string;
  readonly isRequired: boolean;
  readonly meaning: string | undefined;
  readonly schema: Schema;
};

/** One operation as the reference shows it. */
export type Operation = {
  readonly operationId: string;
  /** In upper case. */
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: ReadonlyArray<Field>;
  /** What a request carries, null for an operation that reads no body. */
  readonly body: { readonly description: string; readonly content: Content } | null;
  readonly answers: ReadonlyArray<{
    readonly status: string;
    readonly description: string;
    /** By name, the meaning of the headers that other answers lack. */
    readonly headers: Readonly<Record<string, string>>;
    readonly content: Content;
  }>;
  readonly problems: ReadonlyArray<{ readonly status: string; readonly code: string }>;
};

/** What both forms of the reference show, in the order of the documentation. */
export type Reference = {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  readonly subjects: ReadonlyArray<{
    readonly name: string;
    readonly description: string;
    readonly operations: ReadonlyArray<Operation>;
  }>;
  /** Headers that many answers share, by name. */
  readonly headers: Readonly<Record<string, Header>>;
  /** Named schemas: objects and lists of texts. */
  readonly records: Readonly<Record<string, Schema>>;
};

/** The name of the record that a schema refers to; undefined for a schema that stands for itself. */
export const recordName = ({ $ref }: Schema): string | undefined => $ref?.split("/").at(-1);

/** The members of an object; those that are records have the meaning of their record. */
export const membersOf = (
  { properties = {}, required = [] }: Schema,
  records: Reference["records"],
): ReadonlyArray<Field> =>
  Object.entries(properties).map(([name, schema]) => ({
    name,
    place: "member",
    isRequired: required.includes(name),
    meaning: schema.description ?? records[recordName(schema) ?? ""]?.description,
    schema,
  }));

const operationOf = (
  { components }: Document,
  path: string,
  method: string,
  { operationId, summary, description, parameters = [], requestBody, responses }: Declared,
): Operation => {
  const answered = Object.entries(responses).map(([status, response]) => {
    const whole = "$ref" in response ? components.responses[recordName(response) ?? ""] : response;
    if (whole === undefined) throw new Error(`${operationId} refers to no response`);
    const { [PROBLEM_MEDIA_TYPE]: problem, ...content } = whole.content ?? {};
    const { description: outcome, headers = {} } = whole;
    return { status, outcome, headers, content, codes: Object.keys(problem?.examples ?? {}) };
  });
  return {
    operationId,
    method: method.toUpperCase(),
    path,
    summary,
    description,
    parameters: parameters.map((parameter) => ({
      name: parameter.name,
      place: parameter.in,
      isRequired: parameter.required,
      meaning: parameter.description,
      schema: parameter.schema,
    })),
    body: requestBody ?? null,
    answers: answered
      .filter(({ content, codes }) => codes.length === 0 || Object.keys(content).length > 0)
      .map(({ status, outcome, headers, content }) => ({
        status,
        description: outcome,
        headers: Object.fromEntries(
          Object.entries(headers).flatMap(([name, header]) =>
            "$ref" in header ? [] : [[name, header.description]],
          ),
        ),
        content,
      })),
    problems: answered.flatMap(({ status, codes }) => codes.map((code) => ({ status, code }))),
  };
};

/**
 * The OpenAPI document as people read it: operations by subject, and records. @throws Error for a response that it
 * lacks.
 */
export const referenceOf = (text: JsonText<OpenApiDocument>): Reference => {
  const document = JSON.parse(text) as Document;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, declared]) => ({
      tags: declared.tags,
      operation: operationOf(document, path, method, declared),
    })),
  );
  return {
    ...document.info,
    subjects: document.tags
      .map(({ name, description }) => ({
        name,
        description,
        operations: operations
          .filter(({ tags }) => tags.includes(name))
          .map(({ operation }) => operation),
      }))
      .filter(({ operations: own }) => own.length > 0),
    headers: document.components.headers,
    records: document.components.schemas,
  };
};

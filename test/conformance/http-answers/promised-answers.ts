type Response_ = {
  readonly $ref?: string;
  readonly content?: Readonly<
    Record<
      string,
      {
        /** For problems: examples by code. */
        readonly examples?: Readonly<Record<string, unknown>>;
      }
    >
  >;
};
type Document = {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly operationId: string;
            readonly responses: Readonly<Record<string, Response_>>;
          }
        >
      >
    >
  >;
  readonly components: { readonly responses: Readonly<Record<string, Response_>> };
};

/** What the OpenAPI document says about one operation. */
export type PromisedAnswers = {
  readonly operation: string;
  /** Matches the paths of its requests, without query. */
  readonly path: RegExp;
  /** Status and media type of each answer that is not a problem, such as `200 application/json` or `304`. */
  readonly successes: ReadonlyArray<string>;
  /** The codes of its problems. */
  readonly problems: ReadonlyArray<string>;
};

/** The answers of every operation of an OpenAPI document. */
export const promisedAnswers = (text: string): ReadonlyArray<PromisedAnswers> => {
  const { paths, components } = JSON.parse(text) as Document;
  const resolved = (response: Response_): Response_ =>
    response.$ref === undefined
      ? response
      : (components.responses[response.$ref.split("/").at(-1) ?? ""] ?? {});
  return Object.entries(paths).flatMap(([template, methods]) =>
    Object.values(methods).map(({ operationId, responses }) => {
      const answers = Object.entries(responses).map(
        ([status, response]) => [status, resolved(response).content ?? {}] as const,
      );
      return {
        operation: operationId,
        path: new RegExp(`^${template.replaceAll(".", "\\.").replace(/\{[^}]+\}/g, "[^/]+")}$`),
        successes: answers.flatMap(([status, content]) => {
          if (Number(status) >= 400) return [];
          const types = Object.keys(content);
          return types.length === 0 ? [status] : types.map((type) => `${status} ${type}`);
        }),
        problems: answers.flatMap(([, content]) =>
          Object.keys(content["application/problem+json"]?.examples ?? {}),
        ),
      };
    }),
  );
};

type Schema = { readonly type?: string; readonly maximum?: number; readonly $ref?: string };
type Parameter = {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly schema: Schema & {
    readonly enum?: ReadonlyArray<string>;
    readonly const?: unknown;
    readonly examples?: ReadonlyArray<string | number>;
  };
};
type Operation = {
  readonly operationId: string;
  readonly parameters?: ReadonlyArray<Parameter>;
  readonly requestBody?: {
    readonly "x-max-bytes": number;
    readonly content: Readonly<
      Record<string, { readonly example: Readonly<Record<string, unknown>> }>
    >;
  };
};

/** The parts of an OpenAPI document from which requests are made. */
export type OperationsDocument = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};

/** An operation as the OpenAPI document shows it. */
export type DocumentedOperation = {
  /** `GET` or `POST`. */
  readonly method: string;
  /** With the names of its parameters in braces. */
  readonly path: string;
  readonly operationId: string;
  readonly parameters: ReadonlyArray<Parameter>;
  /** Null when it takes no body. */
  readonly body: {
    readonly example: Readonly<Record<string, unknown>>;
    readonly maxBytes: number;
  } | null;
};

/** Every operation of a document, in its order. */
export const documentedOperations = ({
  paths,
}: OperationsDocument): ReadonlyArray<DocumentedOperation> =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const { operationId, parameters = [], requestBody } = operation;
      const json = requestBody?.content["application/json"];
      const body =
        requestBody === undefined || json === undefined
          ? null
          : { example: json.example, maxBytes: requestBody["x-max-bytes"] };
      return { method: method.toUpperCase(), path, operationId, parameters, body };
    }),
  );

/**
 * The query without which the operation is refused, from the document's examples, and a question mark before it; empty
 * when it needs none. `but` names a parameter to leave out.
 */
export const neededQuery = (
  { parameters }: Pick<DocumentedOperation, "parameters">,
  but = "",
): string => {
  const needed = parameters
    .filter((each) => each.in === "query" && each.required === true && each.name !== but)
    .map(({ name, schema }): [string, string] => [name, String(schema.examples?.[0] ?? "")]);
  return needed.length === 0 ? "" : `?${new URLSearchParams(needed).toString()}`;
};

/** The target of an ordinary request to an operation: with `address` where the path needs one, and the needed query. */
export const usualTarget = (
  operation: Pick<DocumentedOperation, "path" | "parameters">,
  address: string,
): string => operation.path.replace(/\{[^}]+\}/g, () => address) + neededQuery(operation);

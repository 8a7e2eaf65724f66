type Schema = { readonly type?: string; readonly maximum?: number; readonly $ref?: string };
type Parameter = {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly schema: Schema & { readonly enum?: ReadonlyArray<string>; readonly const?: unknown };
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

import { filledIn, type Scope } from "./expression.ts";

/** The paths of an OpenAPI document. */
export type OpenApi = {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly operationId?: string }>>>
  >;
};

/** What of a step says how its operation is called. */
export type Call = {
  readonly operationId: string;
  readonly parameters?: ReadonlyArray<{
    readonly name: string;
    readonly in: string;
    readonly value: unknown;
  }>;
  readonly requestBody?: { readonly contentType: string; readonly payload: unknown };
};

const locate = ({ paths }: OpenApi, operationId: string) => {
  for (const [path, methods] of Object.entries(paths))
    for (const [method, operation] of Object.entries(methods))
      if (operation.operationId === operationId) return { path, method: method.toUpperCase() };
  throw new Error(`no operation ${operationId}`);
};

/** Calls the operation of a step, and gives its answer as expressions refer to it. */
export const callOperation = async (
  base: string,
  openApi: OpenApi,
  { operationId, parameters = [], requestBody }: Call,
  scope: Scope,
): Promise<NonNullable<Scope["answer"]>> => {
  const located = locate(openApi, operationId);
  let { path } = located;
  const query = new URLSearchParams();
  for (const { name, in: place, value } of parameters) {
    const text = String(filledIn(value, scope));
    if (place === "path") path = path.replace(`{${name}}`, encodeURIComponent(text));
    else if (place === "query") query.append(name, text);
    else throw new Error(`a parameter in ${place}`);
  }
  const response = await fetch(`${base}${path}${query.size > 0 ? `?${query}` : ""}`, {
    method: located.method,
    headers: {
      accept: "application/json",
      ...(requestBody === undefined ? {} : { "content-type": requestBody.contentType }),
    },
    ...(requestBody === undefined
      ? {}
      : { body: JSON.stringify(filledIn(requestBody.payload, scope)) }),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
};

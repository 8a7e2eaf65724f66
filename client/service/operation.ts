import type { HttpOperations } from "../generated/contract.ts";
import { type Answer, dataOf, problemOf, type RequestOptions, type Requests } from "./requests.ts";

type Declared = keyof HttpOperations;

/** An operation of the service by its method and path, or a prepare operation that is to give the whole transaction. */
export type Operation =
  | Declared
  | {
      [Name in Declared]: "transaction" extends keyof HttpOperations[Name]["query"]
        ? `${Name}?transaction=true`
        : never;
    }[Declared];

/** The path of an operation that reads, as a template. */
export type ReadPath = Declared extends infer Name
  ? Name extends `GET ${infer Path}`
    ? Path
    : never
  : never;

type DeclaredOf<Name extends Operation> = Name extends Declared
  ? Name
  : Name extends `${infer Base extends Declared}?transaction=true`
    ? Base
    : never;

type Parts<Name extends Declared> = HttpOperations[Name];

/** The `data` of an operation's usual answer, as its contract says. */
type DataBy<Name extends Operation> = Parts<DeclaredOf<Name>>["answer"] extends {
  readonly data: infer Data extends object;
}
  ? Data
  : never;

/** What a request of an operation carries: the members of its path, its query and its body. */
type Carried<Name extends Operation> = Name extends Declared
  ? Parts<Name>["path"] & Parts<Name>["query"] & Parts<Name>["body"]
  : Parts<DeclaredOf<Name>>["path"] & Parts<DeclaredOf<Name>>["body"];

/** Those members, and no other. */
export type CarriedBy<Name extends Operation, Given> = Given &
  Carried<Name> & { readonly [Other in Exclude<keyof Given, keyof Carried<Name>>]: never };

type Options = Pick<RequestOptions, "headers" | "signal">;

/**
 * A request of an operation: each member goes into the path where that names it, else into the query of a GET and the
 * body of a POST.
 */
export const requestOf = <Name extends Operation, const Given>(
  operation: Name,
  carried: CarriedBy<Name, Given>,
  options: Options = {},
): [path: string, options: RequestOptions] => {
  const [method, template = ""] = operation.split(" ");
  const inPath: Array<string> = [];
  const given: Readonly<Record<string, unknown>> = { ...carried };
  const path = template.replaceAll(/\{([a-z]+)\}/g, (_, name: string) => {
    inPath.push(name);
    return String(given[name]);
  });
  const rest = Object.entries(given).filter(
    ([name, value]) => value !== undefined && !inPath.includes(name),
  );
  if (method === "POST") return [path, { ...options, body: Object.fromEntries(rest) }];
  const query = rest.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return [query.length === 0 ? path : `${path}?${query.join("&")}`, options];
};

const dataIn = <Name extends Operation>(answer: Answer): DataBy<Name> => {
  if (answer.status < 200 || answer.status > 299) throw problemOf(answer);
  return dataOf(answer) as DataBy<Name>;
};

/** The `data` of an operation's answer. @throws SettlementError for a problem, and when no answer comes. */
export const dataBy = async <Name extends Operation, const Given>(
  requests: Requests,
  operation: Name,
  carried: CarriedBy<Name, Given>,
  options?: Options,
): Promise<DataBy<Name>> =>
  dataIn(await requests.answer(...requestOf(operation, carried, options)));

/**
 * As `dataBy`, and null for an answer that says that there is nothing: 404, or one of `absent`. @throws SettlementError
 */
export const dataOrNull = async <Name extends Operation, const Given>(
  requests: Requests,
  operation: Name,
  carried: CarriedBy<Name, Given>,
  { absent = [404], ...options }: Options & { readonly absent?: ReadonlyArray<number> } = {},
): Promise<DataBy<Name> | null> => {
  const answer = await requests.answer(...requestOf(operation, carried, options));
  return absent.includes(answer.status) ? null : dataIn(answer);
};

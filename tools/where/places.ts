import type { ContractDocument, DocumentOperation } from "./contract-document.ts";
import { isTest, reachedFrom, type Sources } from "./sources.ts";

/** A file to open, and what it is to the name that was looked up. */
export type Place = { readonly role: string; readonly file: string };

/** Places of one role. */
export const placesOf = (role: string, files: Iterable<string>): ReadonlyArray<Place> =>
  Array.from(new Set(files), (file) => ({ role, file }));

const HTTP = "adapters/http/";
const literal = (text: string): string => RegExp.escape(text);

/** The files that declare operations. */
export const routesOf = (
  { matching }: Sources,
  operations: ReadonlyArray<DocumentOperation>,
): ReadonlyArray<string> =>
  operations.flatMap(({ operationId }) =>
    matching(HTTP, new RegExp(`endpoint\\([\\s\\S]*operationId:\\s*"${literal(operationId)}"`)),
  );

/** The files that declare schemas by these names. */
export const contractsOf = (
  { matching }: Sources,
  schemas: Iterable<string>,
): ReadonlyArray<string> =>
  [...schemas].flatMap((name) =>
    matching(HTTP, new RegExp(`(?:\\(|^ *|title: )"${literal(name)}"`, "m")),
  );

/** The use cases that routes call, by themselves or through files of their rooms. */
const useCasesOf = (sources: Sources, routes: ReadonlyArray<string>): ReadonlyArray<string> => {
  const rooms = routes.map((file) => file.slice(0, file.lastIndexOf("/") + 1));
  const inRooms = (file: string) => rooms.some((room) => file.startsWith(room));
  return reachedFrom(sources, routes, inRooms).filter((file) => file.startsWith("core/use-cases/"));
};

/** What routes reach into: use cases, and the ports that those depend on. */
export const inwardOf = (sources: Sources, routes: ReadonlyArray<string>): ReadonlyArray<Place> => {
  const useCases = useCasesOf(sources, routes);
  const reached = reachedFrom(sources, [...routes, ...useCases], (file) =>
    file.startsWith("core/use-cases/"),
  );
  const ports = reached.filter((file) => file.startsWith("ports/"));
  return [...placesOf("use case", useCases), ...placesOf("port", ports)];
};

/** The tests that import one of these files. */
export const testsOf = (sources: Sources, files: ReadonlyArray<string>): ReadonlyArray<string> =>
  sources.files.filter(
    (file) => isTest(file) && sources.importsOf(file).some((imported) => files.includes(imported)),
  );

/** Where one operation is declared, what it reaches and where it is tried. */
export const placesOfOperation = (
  sources: Sources,
  operation: DocumentOperation,
): ReadonlyArray<Place> => {
  const routes = routesOf(sources, [operation]);
  const contracts = contractsOf(sources, operation.schemas);
  const inward = inwardOf(sources, routes);
  const useCases = inward.filter(({ role }) => role === "use case").map(({ file }) => file);
  const fixed = operation.path.replace(/\{.*/, "");
  const rooms = routes.map((file) => `test/${file.slice(0, file.lastIndexOf("/") + 1)}`);
  const overHttp =
    fixed === "/"
      ? []
      : rooms.flatMap((room) => sources.matching(room, new RegExp(literal(fixed))).filter(isTest));
  return [
    ...placesOf("route", routes),
    ...placesOf("contract", contracts),
    ...inward,
    ...placesOf("test", [...overHttp, ...testsOf(sources, useCases)]),
    { role: "answers", file: `test/vectors/http-answers/${operation.operationId}.txt` },
  ];
};

/** The operations that show or take a field. */
export const operationsWith = (
  { operations, schemas }: ContractDocument,
  field: string,
): ReadonlyArray<DocumentOperation> =>
  operations.filter(
    ({ fields, allSchemas }) =>
      fields.has(field) || [...allSchemas].some((name) => schemas.get(name)?.has(field) === true),
  );
